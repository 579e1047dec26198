"""BGV/BFV: exact arithmetic on encrypted integers modulo t. The public class is `aglet.IntegerEngine`."""
