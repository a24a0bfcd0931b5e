package cloneset

import "context"

// ImagePullJobs creates and deletes the jobs that pull images to nodes.
type ImagePullJobs interface{}

// PreDownload is what to do about pulling images ahead of an in-place update.
type PreDownload struct{}

func (p *planner) planPreDownload() {}

func (r *Reconciler) observeJobs(*Snapshot) error { return nil }

func (a *applier) preDownload(context.Context) error { return nil }
