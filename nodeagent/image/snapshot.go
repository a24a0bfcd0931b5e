// SPDX-License-Identifier: Apache-2.0

package image

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/controller"
)

// Snapshot is everything that a plan depends on. Its objects are shared with
// caches; nothing in this package changes them.
type Snapshot struct {
	// NodeImage is that of the node; nil if there is none.
	NodeImage *v1alpha1.NodeImage
	// Pulls are the pulls that this agent knows of, in any order.
	Pulls []Pull
	// Images are those that the runtime has. Nil if it has not been asked: see
	// Plan.ListImages.
	Images []*criv1.Image
	// Concurrency is how many attempts may run at the same time, at least 1; see
	// Options.Concurrency.
	Concurrency int
	// Limits bounds what tasks ask for.
	Limits Limits
	// Filter says what may be pulled.
	Filter Filter
	// Now is the time for which to plan.
	Now time.Time

	key types.NamespacedName // of the NodeImage
}

// Task names a task of the node: one Tag, or one digest, of an Image.
type Task struct{ Image, Tag string }

// Pull is what an agent remembers of the work on one version of a task. Nothing
// of it is needed after a restart.
type Pull struct {
	Task
	// Version is that of the task in the NodeImage.
	Version int64
	// Since is when the first attempt began.
	Since time.Time
	// Running says that an attempt is under way, Former that it was begun for a version before. That it fails is not held against this one.
	Running, Former bool
	// Namespaces are those whose secrets the last attempt may use; nil for all.
	Namespaces []string
	// Failures is the number of attempts that have failed, and Err why the last
	// of them did.
	Failures int
	Err      error
	// Succeeded says that the node has the image. ImageID is what the runtime
	// calls it, empty if it does not say.
	Succeeded bool
	ImageID   string
	// Ended is when the last attempt ended.
	Ended time.Time
}

// Limits bounds what a task may ask for, so that no job holds up a node. Its zero
// value is fit for use.
type Limits struct {
	// Timeout is how long one attempt may take at most, whatever the task says.
	// Default 1 h.
	Timeout time.Duration
	// BackoffLimit is how often a failed attempt is repeated at most. Default 20.
	BackoffLimit int32
}

// The defaults of Limits.
const (
	defaultMaxTimeout      = time.Hour
	defaultMaxBackoffLimit = 20
)

func (l Limits) check(c *controller.Checks) {
	c.That(l.Timeout >= 0, "Options.Limits.Timeout is negative: it is how long one attempt may take at most, 0 means an hour")
	c.That(l.BackoffLimit >= 0, "Options.Limits.BackoffLimit is negative: it is how often an attempt is repeated at most, 0 means 20 times")
}

func (l Limits) timeout() time.Duration {
	if l.Timeout <= 0 {
		return defaultMaxTimeout
	}
	return l.Timeout
}

func (l Limits) backoffLimit() int32 {
	if l.BackoffLimit <= 0 {
		return defaultMaxBackoffLimit
	}
	return l.BackoffLimit
}
