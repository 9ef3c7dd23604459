package monitor

// LimitSamples sets how many bytes of samples an account can have.
func (m *Monitor) LimitSamples(bytes int) { m.sketches.most = bytes }
