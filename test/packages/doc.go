// Package packages tests what Sluice is installed with: the packages for Debian and RPM that
// .goreleaser.yaml describes, the Helm chart and the systemd unit in deploy.
package packages
