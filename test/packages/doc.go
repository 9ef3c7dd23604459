// Package packages tests what Sluice is installed with: the packages for Debian and RPM that .goreleaser.yaml
// describes, the Helm chart and the systemd unit in deploy, and what is in examples for Compose, Kubernetes, KEDA and
// Terraform.
package packages
