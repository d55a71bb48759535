"""Questions over small tables: link their words, enumerate readings, weigh them with learned weights, choose."""
