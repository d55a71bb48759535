"""Courses: folders of lessons that know their place (requirements C)."""
