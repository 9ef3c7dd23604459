package upgrade

// mutes makes a rule that mutes alarms.
func (f *filler) mutes() error {
	const name = "nightly"
	in := map[string]any{"Name": name, "Rule": map[string]any{
		"Schedule": map[string]string{"Expression": "cron(0 2 * * *)", "Duration": "PT2H"},
	}}
	if err := f.CloudWatch(f.ctx, "PutAlarmMuteRule", in, nil); err != nil {
		return err
	}
	f.content.Mutes = append(f.content.Mutes, name)
	return nil
}

// mute checks that a rule that mutes alarms is there.
func (k *checker) mute(name string) error {
	return k.CloudWatch(k.ctx, "GetAlarmMuteRule", map[string]string{"AlarmMuteRuleName": name}, nil)
}
