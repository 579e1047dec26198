"""Face verification with CryptoFace, as the harness face-recognition asks for it."""
