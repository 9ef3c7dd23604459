#!/bin/sh
# The data in /var/lib/sluice, what trails have delivered and the user they belong to stay.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
