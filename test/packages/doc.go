// Package packages tests what Sluice is installed with: the Helm chart and the systemd
// unit in deploy.
package packages
