package prom

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// KeyService adds the metric of the key service: how long ago it last opened the encryption keys.
func (m *Metrics) KeyService(age func() time.Duration) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "key_service_age_seconds",
		Help: "Time since the key service last opened the encryption keys. The server asks it once a minute.",
	}, func() float64 { return age().Seconds() }))
}
