package audit

// AtArchiveStep has f told before each step of an archive.
func (l *Log) AtArchiveStep(f func(step string)) { l.archived.step = f }
