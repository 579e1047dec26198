"""64-bit products, as the harness Zn-multiplication asks for them."""
