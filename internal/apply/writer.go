// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/podplan"
)

// Writer holds what one controller writes with. It is safe for use by several
// goroutines; its fields are set before the first reconcile.
type Writer struct {
	// Kubernetes writes revisions. Required.
	Kubernetes kubernetes.Interface
	// Pods and Claims write those. Required.
	Pods, Claims apiwriter.Resource
	// Workloads names the cache of the workloads. Required.
	Workloads podwright.Resource
	// Merge patches workloads and their status. Required.
	Merge apiwriter.Merge
	// RevisionNamespace is that of the revisions of workloads without a namespace.
	// Default: that of the workload.
	RevisionNamespace string
	// VersionedBy names the labels and annotations of a pod that an update changes. By them, an update whose answer
	// was lost is known to have been made. Default: the label of the revision.
	VersionedBy []string
	// IdentifiedBy names the labels by which a workload knows what a pod of its own is, beside that of the revision. A new pod
	// that comes back with others is deleted. (CT-5)
	IdentifiedBy []string

	// Recorder receives events about workloads. Default nil: no events.
	Recorder record.EventRecorder
	// Message gives the text of the event about a write. Default: Plain.
	Message func(Outcome) string
	// Records says which patches of pods are recorded in events, by what they are
	// for. Default: none.
	Records map[rollout.PatchKind]Action
	// Keeps lists how annotations of pods begin that keep what a write has found, or which version it was made by. The
	// record of an update does. Another value is not another wish. That of the record of updates in place always does.
	// (CT-12)
	Keeps []string
	// SharedStatus says that a webhook books in the status of the workloads, too. (CT-12)
	SharedStatus bool
	// TimedStatus says that the times in the status of the workloads are what is wanted, as those of a schedule are. By default they
	// are those of the write. (CT-12)
	TimedStatus bool
	// GeneratedNames says that a pod gets another name with every attempt to
	// create it. Reports then leave the name out.
	GeneratedNames bool

	// Clock is the time by which creations wait after others turned out to be in vain. Default: the real one.
	Clock clock.PassiveClock

	// Own remembers the writes of earlier reconciles.
	Own apiwriter.Store

	creations Creations
	refusals  refusals
	denials   denials
	misfits   misfits
	states    apiwriter.Last[map[string]types.UID] // see Begins
	held      heldup.Tracker

	statuses apiwriter.Last[statusWrite] // the last own write of the status that was answered
	intended apiwriter.Last[any]         // the status of the last own write, before it is answered
}

// Writes are those of earlier reconciles.
func (w *Writer) Writes() *apiwriter.Store { return &w.Own }

// NewWriter returns a Writer of pods, claims and revisions.
func NewWriter(client kubernetes.Interface) *Writer {
	return &Writer{
		Kubernetes: client,
		Pods:       apiwriter.Resource{Client: client.CoreV1().RESTClient(), Name: string(caches.Pods)},
		Claims:     apiwriter.Resource{Client: client.CoreV1().RESTClient(), Name: string(caches.Claims)},
	}
}

// version is what a pod has of VersionedBy.
func (w *Writer) version(pod *corev1.Pod) (version string) {
	if len(w.VersionedBy) == 0 {
		return pod.Labels[podplan.RevisionLabel]
	}
	for _, key := range w.VersionedBy {
		version += pod.Labels[key] + pod.Annotations[key]
	}
	return version
}

func (w *Writer) now() time.Time {
	if w.Clock != nil {
		return w.Clock.Now()
	}
	return time.Now()
}

// WroteStatus tells whether a version of a workload, which has the status, is
// that of the last status that was written to it. The watch may tell of a write
// before it is answered; then the status itself says whose it is.
func (w *Writer) WroteStatus(key types.NamespacedName, resourceVersion string, status any) bool {
	return w.statuses.Get(key).version == resourceVersion || equality.Semantic.DeepEqual(w.intended.Get(key), status)
}

// HeldSince returns when what holds a workload up began.
func (w *Writer) HeldSince(workload metav1.Object) heldup.Since { return w.held.Since(keyOf(workload)) }

// NoteHeld takes note of what holds a workload up, and returns after what time the status is to say so: 0 for never.
func (w *Writer) NoteHeld(workload types.NamespacedName, holds []rollout.Wait, now time.Time) time.Duration {
	return w.held.Note(workload, holds, now)
}

// Soonest returns the shortest of times after which to reconcile again. A time of 0 stands for never, and so does the result.
func Soonest(times ...time.Duration) (soonest time.Duration) {
	for _, after := range times {
		if after > 0 && (soonest == 0 || after < soonest) {
			soonest = after
		}
	}
	return soonest
}

// Forget drops what is remembered of a workload that no longer exists.
func (w *Writer) Forget(key types.NamespacedName) {
	w.Own.Forget(key)
	w.creations.Forget(key)
	w.refusals.forget(key)
	w.denials.forget(key)
	w.misfits.forget(key)
	w.states.Forget(key)
	w.held.Forget(key)
	w.statuses.Forget(key)
	w.intended.Forget(key)
}

// Action is what a write does, as the reasons of events name it after
// "Successful" or "Failed".
type Action string

// The actions that are recorded in events.
const (
	Create        Action = "Create"
	Delete        Action = "Delete"
	Update        Action = "Update"
	UpdateInPlace Action = "UpdatePodInPlace"  // recorded when it begins
	Recreate      Action = "UpdatePodReCreate" // a deletion, to be created at another revision
	UpdateStatus  Action = "UpdateStatus"      // recorded when it fails
)

// Outcome is the outcome of a write that is recorded in an event.
type Outcome struct {
	// Workload is the name of the workload.
	Workload string
	Action   Action
	// Pod is the name of the pod that was written, or is empty. Claim is the
	// name of the claim that was written, or is empty; Pod is then the pod for
	// which it was created.
	Pod, Claim string
	// Err is why it failed, nil if it did not.
	Err error
}

// Plain says an outcome in plain words.
func Plain(o Outcome) string {
	thing := "pod " + o.Pod
	if o.Claim != "" {
		thing = "claim " + o.Claim
	}
	present, past := "update "+thing, "updated "+thing
	switch o.Action {
	case Create:
		present, past = "create "+thing, "created "+thing
	case Delete, Recreate:
		present, past = "delete "+thing, "deleted "+thing
	case UpdateInPlace:
		present, past = "update "+thing+" in place", "started to update "+thing+" in place"
	}
	if o.Err != nil {
		return fmt.Sprintf("%s: %v", present, o.Err)
	}
	return past
}
