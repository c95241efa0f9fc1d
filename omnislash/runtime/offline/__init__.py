"""The model that ships: it quotes and follows fixed rules, and needs neither key nor network."""
