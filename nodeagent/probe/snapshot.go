// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Snapshot is everything that a plan depends on. Its objects are shared with
// caches; nothing in this package changes them.
type Snapshot struct {
	// NodePodProbe is that of the node; nil if there is none.
	NodePodProbe *v1alpha1.NodePodProbe
	// Probes are those that this agent knows of, in any order.
	Probes []Probe
	// Running is the number of runs that are under way, also of probes that are not known any more.
	Running int
	// Paced is how far starts are ahead of their pace: see Limits.PerSecond.
	Paced time.Time
	// Limits bounds what the agent does.
	Limits Limits
	// Began is when the agent started.
	Began time.Time
	// Now is the time for which to plan.
	Now time.Time

	key types.NamespacedName // of the NodePodProbe
}

// ID names a probe: a name in the NodePodProbe, for a container of a pod.
type ID struct {
	// Namespace, Pod and UID are the namespace, the name and the UID of the pod.
	Namespace, Pod string
	UID            types.UID
	// Container is the name of the container.
	Container string
	// Probe is its name in the NodePodProbe.
	Probe string
}

// Probe is what an agent remembers of a probe. But for a run of equal results nothing
// of it is needed after a restart: the status has it.
type Probe struct {
	ID
	// Handler is what is run. With another one, what is known is not known any more.
	Handler corev1.ProbeHandler
	// First is when it is due for the first time, Last when it was run last; zero: never.
	First, Last time.Time
	// Retry is when it is worth trying, if that is before it is due again; zero: it is not.
	Retry time.Time
	// Running says that a run is under way.
	Running bool

	// ContainerID is the container that the rest is about, and StartedAt when that was started. Empty: none was found yet.
	ContainerID string
	StartedAt   time.Time
	// State is what is known, empty for nothing; Message says why in the agent's own words, and Output is what the command printed.
	// ProbedAt is when the probe was run last that said so, Since when the state became what it is.
	State           v1alpha1.ProbeState
	Message, Output string
	ProbedAt, Since time.Time
	// Result is what the last runs have said, Count of them in a row.
	Result v1alpha1.ProbeState
	Count  int32
}

// Limits bounds what an agent does, so that no marker holds up a node. Its zero value is fit for use.
type Limits struct {
	// Probes is how many probes are run. They are shared among namespaces: one that wants less than an equal share
	// leaves the rest to the others. Of each namespace those that stand first are run. Default 500.
	Probes int
	// PerSecond is how many are started in a second, in the long run; a fifth of that may be started at once.
	// Default 50.
	PerSecond int
	// Concurrency is how many are under way at the same time. A namespace of which none is may start one more, up to
	// twice as many in all. Default 10.
	Concurrency int
	// Timeout is how long one run may take at most, whatever timeoutSeconds says. Default 60 s.
	Timeout time.Duration
}

// The defaults of Limits. (PPM-4.10)
const (
	defaultProbes      = 500
	defaultPerSecond   = 50
	defaultConcurrency = 10
	defaultTimeout     = time.Minute
)

func (l Limits) check(c *controller.Checks) {
	c.That(l.Probes >= 0, "Options.Limits.Probes is negative: it is how many probes are run, 0 means 500")
	c.That(l.PerSecond >= 0, "Options.Limits.PerSecond is negative: it is how many probes are started in a second, 0 means 50")
	c.That(l.Concurrency >= 0, "Options.Limits.Concurrency is negative: it is how many probes are under way at the same time, 0 means 10")
	c.That(l.Timeout >= 0, "Options.Limits.Timeout is negative: it is how long one run may take at most, 0 means 60 s")
}

func (l Limits) probes() int      { return orDefault(l.Probes, defaultProbes) }
func (l Limits) concurrency() int { return orDefault(l.Concurrency, defaultConcurrency) }

func (l Limits) timeout() time.Duration {
	if l.Timeout <= 0 {
		return defaultTimeout
	}
	return l.Timeout
}

// pace is the time between two starts, and burst how far these may be ahead of it.
func (l Limits) pace() (pace, burst time.Duration) {
	return time.Second / time.Duration(orDefault(l.PerSecond, defaultPerSecond)), time.Second / 5
}

func orDefault(n, byDefault int) int {
	if n <= 0 {
		return byDefault
	}
	return n
}
