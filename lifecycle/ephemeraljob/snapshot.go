// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// kind is the name of the kind.
const kind = "EphemeralJob"

// Snapshot is everything that a plan depends on: what the caches held at one
// moment. Its objects are shared with the caches; nothing in this package
// changes them.
type Snapshot struct {
	// Job is the EphemeralJob. Required.
	Job *v1alpha1.EphemeralJob
	// Pods are those of the job's namespace that its selector selects, in any order. Others
	// beside them do no harm.
	Pods []*corev1.Pod
	// Refusals are what the API server has refused, as far as the controller remembers.
	Refusals Refusals
	// Idle says of pods with containers of the job, of which none runs or has ended, since when that is known, by UID.
	Idle map[types.UID]time.Time
	// HeldSince is when what holds the job up began, as far as a controller remembers. (EJ-26)
	HeldSince map[rollout.Subject]time.Time
	// Reported is when the status was last written. Zero: it is not known.
	Reported time.Time
	// Now is the time for which to plan.
	Now time.Time
}

// now is the time as it stands in objects, in whole seconds.
func (s *Snapshot) now() metav1.Time { return metav1.NewTime(s.Now.Truncate(time.Second)) }

// idle returns since when pods with containers of the job have none that runs or has ended, as far as before says. (EJ-9)
func (s *Snapshot) idle(before map[types.UID]time.Time) map[types.UID]time.Time {
	var now map[types.UID]time.Time
	for _, pod := range s.Pods {
		if len(pod.Spec.EphemeralContainers) == 0 {
			continue
		}
		switch (&planner{Snapshot: s, plan: &Plan{}}).stateOf(pod, ownContainers(s.Job, pod)) {
		case Injected, Waiting:
			if now == nil {
				now = map[types.UID]time.Time{}
			}
			if now[pod.UID] = s.Now; !before[pod.UID].IsZero() {
				now[pod.UID] = before[pod.UID]
			}
		default:
		}
	}
	return now
}

// over tells whether a job has finished, or is being deleted. (EJ-1)
func over(job *v1alpha1.EphemeralJob) bool {
	return job.Status.CompletionTime != nil || job.DeletionTimestamp != nil
}

// Refusals are the injections that the API server has refused, as far as a controller
// remembers. The zero Refusals are none.
type Refusals struct {
	// Tried says that injections were tried since the controller was started, or since the
	// spec has changed.
	Tried bool
	// Until is when the next injection may be tried: the API server has refused all of the
	// last ones. Zero, as any time that has come, stands for now.
	Until time.Time
	// InARow is how many times in a row that was so.
	InARow int
	// Pods are those whose injections were refused, by UID.
	Pods map[types.UID]Refusal
}

// Refusal is the refused injection of a pod.
type Refusal struct {
	// Message is what the API server said.
	Message string
	// Until is when it may be tried again.
	Until time.Time
	// Times is how many times it was refused.
	Times int
}

// The next injection is tried after so long, and after twice as long every time.
const (
	firstRefusal = time.Second
	lastRefusal  = 5 * time.Minute
)

// backOff is how long to wait after so many refusals.
func backOff(times int) time.Duration {
	return min(firstRefusal<<min(max(times-1, 0), 10), lastRefusal)
}

// patience is how many refusals in a row end a reconcile. It grows, so that pods which are
// not refused are found among many that are.
func (r *Refusals) patience() int { return 2 << min(r.InARow, 10) }

// after returns what is known once the API server has refused the injections of some pods,
// and served others. (EJ-14)
func (r *Refusals) after(refused map[types.UID]string, served []types.UID, now time.Time) Refusals {
	next := Refusals{Tried: true, Pods: make(map[types.UID]Refusal, len(r.Pods)+len(refused))}
	for uid, refusal := range r.Pods {
		next.Pods[uid] = refusal
	}
	for uid, message := range refused {
		times := next.Pods[uid].Times + 1
		next.Pods[uid] = Refusal{Message: message, Until: now.Add(backOff(times)), Times: times}
	}
	for _, uid := range served {
		delete(next.Pods, uid)
	}
	if len(served) == 0 && len(refused) > 0 {
		next.InARow = r.InARow + 1
		next.Until = now.Add(backOff(next.InARow))
	}
	return next
}
