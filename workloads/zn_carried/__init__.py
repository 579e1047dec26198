"""64-bit products with all carries added under encryption: the second mode of `workloads.zn`."""
