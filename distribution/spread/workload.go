// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"math"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/workload"
)

// The kinds of workloads that are spread. (WS-1)
var (
	CloneSets            = workload.CloneSets
	AdvancedStatefulSets = workload.AdvancedStatefulSets
	Deployments          = workload.Deployments
	ReplicaSets          = workload.ReplicaSets
	StatefulSets         = workload.StatefulSets
	Jobs                 = workload.Jobs
)

// Workload is what spreading has to know of one.
type Workload struct {
	schema.GroupKind
	// Name and UID are those of the workload.
	Name string
	UID  types.UID
	// Replicas is how many pods it wants, of a Job at the same time. Nil: it does not say, which
	// is 1.
	Replicas *int32
	// Unknown is why it is not known how many pods it wants, whatever Replicas says; nil if it is. Then it wants as many as come,
	// and no pod is created in a WorkloadSpread with percentages. (WS-34)
	Unknown error
	// MayFail is how many more pods of a Job may be deleted before they have ended, which the Job counts as failures. Nil: none. It says
	// nothing about other kinds. (WS-37)
	MayFail *int32
	// Deleting tells that it is being deleted, and wants nothing any more.
	Deleting bool
	// Revision is the latest revision, as the pods of it have it in a label: pod-template-hash
	// for a Deployment, else controller-revision-hash. Empty: all its pods count alike. (WS-8)
	Revision string
	// Start is the first ordinal of a StatefulSet, Reserved those that it leaves out, as spec.reserveOrdinals has them: numbers, and ranges
	// such as "5-7". An entry that is neither reserves nothing. (WS-5)
	Start    int32
	Reserved []intstr.IntOrString
	// Selector is how it finds its pods; nil if that is not known. (WS-21.1)
	Selector *metav1.LabelSelector
}

func (w *Workload) selector() *metav1.LabelSelector {
	if w == nil {
		return nil
	}
	return w.Selector
}

// Wants is how many pods the workload wants, at least 0. Nil, for one that is not there,
// wants none.
func (w *Workload) Wants() int32 {
	switch {
	case w == nil || w.Deleting:
		return 0
	case w.Unknown != nil:
		return math.MaxInt32
	case w.Replicas == nil:
		return 1
	}
	return max(*w.Replicas, 0)
}

func (w *Workload) kind() schema.GroupKind {
	if w == nil {
		return schema.GroupKind{}
	}
	return w.GroupKind
}

// KindOf is the group and kind that a WorkloadSpread names; false if it is none that is
// spread whatever the white list says. (WS-1)
func KindOf(ws *v1alpha1.WorkloadSpread) (schema.GroupKind, bool) {
	ref := ws.Spec.TargetReference
	if ref == nil {
		return schema.GroupKind{}, false
	}
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return schema.GroupKind{}, false
	}
	kind := schema.GroupKind{Group: gv.Group, Kind: ref.Kind}
	known := workload.KindOf(kind)
	return kind, known != nil && known.Spread && ref.Name != ""
}

// Targets tells whether a WorkloadSpread names a workload of its namespace. Versions do not
// matter. (WS-1)
func Targets(ws *v1alpha1.WorkloadSpread, of schema.GroupKind, name string) bool {
	kind, _ := KindOf(ws)
	return kind.Kind != "" && kind == of && name != "" && ws.Spec.TargetReference.Name == name
}

// Named is a workload of the namespace.
type Named = workload.Named

// Above says what controls the workload of a WorkloadSpread, and what controls that, if it is known.
type Above func(*v1alpha1.WorkloadSpread) []Named

// Conflict tells whether two WorkloadSpreads of a namespace are of the same pods. They name the same workload, or one names what
// controls the workload that the other one names. That needs above; nil: it is not known. (WS-22)
func Conflict(a, b *v1alpha1.WorkloadSpread, above Above) bool {
	kind, _ := KindOf(a)
	return kind.Kind != "" && Targets(b, kind, a.Spec.TargetReference.Name) || isAbove(a, b, above) || isAbove(b, a, above)
}

// isAbove tells whether the workload of a WorkloadSpread controls that of another one, by some steps. Most kinds control pods alone.
func isAbove(ws, of *v1alpha1.WorkloadSpread, above Above) bool {
	kind, builtIn := KindOf(ws)
	below, _ := KindOf(of)
	if above == nil || kind.Kind == "" || below.Kind == "" || kind == below || builtIn && (kind != Deployments || below != ReplicaSets) {
		return false
	}
	return slices.ContainsFunc(above(of), func(n Named) bool { return Targets(ws, n.GroupKind, n.Name) })
}

// Holder is the one of several WorkloadSpreads that has the pods that all of them are of; nil if there are none. It is the one that was
// created first, and by name the first of those that were created together. One that is being deleted has them only if
// all are. Then no new pod is assigned. Are tells which of the list they are; nil: all of it. (WS-22)
func Holder(list []*v1alpha1.WorkloadSpread, are func(*v1alpha1.WorkloadSpread) bool) (holder *v1alpha1.WorkloadSpread) {
	for _, ws := range list {
		if (are == nil || are(ws)) && (holder == nil || comesBefore(ws, holder)) {
			holder = ws
		}
	}
	return holder
}

// comesBefore tells whether a WorkloadSpread has the pods that another one is of too.
func comesBefore(a, b *v1alpha1.WorkloadSpread) bool {
	if goes := a.DeletionTimestamp != nil; goes != (b.DeletionTimestamp != nil) {
		return !goes
	}
	if order := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); order != 0 {
		return order < 0
	}
	return a.Name < b.Name
}

// byOrdinal tells whether the pods of a kind are assigned by their ordinals. (WS-5)
func byOrdinal(kind schema.GroupKind) bool {
	return kind == StatefulSets || kind == AdvancedStatefulSets
}

// revisionOf is the revision of a pod, as its label has it; empty if it has none.
func revisionOf(pod *corev1.Pod) string {
	if hash := pod.Labels[appsv1.ControllerRevisionHashLabelKey]; hash != "" {
		return hash
	}
	return pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
}

// latest tells whether a revision of a pod is the latest one of its workload. Labels hold the name
// of a revision, or the end of it. (WS-8)
func (w *Workload) latest(revision string) bool {
	return w == nil || w.Revision == "" || revision == w.Revision || revision != "" && strings.HasSuffix(w.Revision, "-"+revision)
}

// isOfLatest tells so of a pod. It does not look at the pod if all revisions are alike.
func (w *Workload) isOfLatest(pod *corev1.Pod) bool {
	return w == nil || w.Revision == "" || w.latest(revisionOf(pod))
}
