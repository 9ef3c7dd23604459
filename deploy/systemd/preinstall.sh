#!/bin/sh
# The settings belong to the group of the server's user, which must exist before them.
set -e
if ! getent group sluice >/dev/null; then
	groupadd --system sluice
fi
if ! getent passwd sluice >/dev/null; then
	useradd --system --gid sluice --home-dir /var/lib/sluice --no-create-home --shell /usr/sbin/nologin --comment "Sluice message queue service" sluice
fi
