"""AES-128 to encrypted words and their maximum, as the harness transciphering asks for them."""
