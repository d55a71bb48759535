"""Questions over small tables: links, readings that are enumerated and run, and the choice by learned weights."""
