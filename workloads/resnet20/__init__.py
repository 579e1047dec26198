"""Small coloured pictures and ResNet-20, as the harness ml-inference asks for them."""
