package rollout

// counts is the tally with what can be counted: a negative number is 0, and a
// partition holds back all replicas at most.
func (t Tally) counts() Tally {
	t.Replicas, t.MaxUnavailable = max(t.Replicas, 0), max(t.MaxUnavailable, 0)
	t.MaxSurge, t.ScaleMaxUnavailable = max(t.MaxSurge, 0), max(t.ScaleMaxUnavailable, 0)
	t.Partition = min(max(t.Partition, 0), t.Replicas)
	t.New, t.Old = t.New.counts(), t.Old.counts()
	return t
}

func (c Class) counts() Class {
	c.Total, c.PreparingDelete = max(c.Total, 0), max(c.PreparingDelete, 0)
	c.SpecifiedDelete, c.Unavailable = max(c.SpecifiedDelete, 0), max(c.Unavailable, 0)
	return c
}
