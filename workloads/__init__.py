"""Public workloads of homomorphic encryption, each as the stages that its harness calls; see docs/workloads.md."""
