"""How an encoder ends: which space its embeddings are in."""
