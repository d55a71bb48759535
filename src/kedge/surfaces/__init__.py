"""Where people and programs meet Kedge: command line, server, client, agents, integrations, notebooks."""
