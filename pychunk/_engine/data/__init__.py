"""What flows between the stages of a call: frozen, flat arrays. Imports nothing of pychunk."""
