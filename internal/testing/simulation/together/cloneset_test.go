// SPDX-License-Identifier: Apache-2.0

package together

import (
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/cloneset"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

func cloneSets(bug simulation.Spoil[cloneset.Options, cloneset.Reconciler]) *simulation.Subject {
	return &simulation.Subject{
		Resource: fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"),
		Empty:    func() simulation.Object { return &v1alpha1.CloneSet{} },
		Create:   anyCloneSet,
		Start:    planted.Start(ofCloneSets, bug, optionsOfCloneSets),
		Act:      actOnCloneSet,
		Release:  (*simulation.User).AnswerHooks,
		Push:     pushCloneSet,
		Judge: func(uint64) simulation.Judge {
			past := invariants.NewPast()
			return simulation.Judge{
				Observe: past.Observe,
				Write: func(w *invariants.Write) []invariants.Violation {
					return invariants.CloneSet(w, invariants.CloneSetFeatures{})
				},
				Settled: func(s *invariants.State, pushed bool) []invariants.Violation {
					return past.CloneSetSettled(s, pushed, invariants.CloneSetFeatures{})
				},
			}
		},
	}
}

// pushCloneSet is all that users of the CloneSet do in the end: they push an image that runs, to all pods.
func pushCloneSet(u *simulation.User) {
	u.Edit(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:9"}]}},"updateStrategy":{"partition":0}}}`)
}

var ofCloneSets = fixture.Package[cloneset.Options, cloneset.Snapshot, cloneset.Plan]{NewReconciler: cloneset.NewReconciler,
	Acts: func(p *cloneset.Plan) bool {
		return scenario.Acts(&p.Plan) || p.Status != nil || p.PrunePodsToDelete || len(p.DeleteClaims) > 0
	}}

func optionsOfCloneSets(p *simulation.Process) (o cloneset.Options, err error) {
	p.Config.Wrap(injecting(p))
	o.NoNodes, o.Reader = true, planted.Read(p, cloneset.ResourceCloneSets, caches.Pods, caches.Claims, caches.Revisions)
	if o.Kubernetes, err = p.Kubernetes(); err == nil {
		o.Workloads, err = client.NewForConfig(p.Config)
	}
	return o, err
}

func anyCloneSet(r *rand.Rand) simulation.Object {
	set := &v1alpha1.CloneSet{Spec: v1alpha1.CloneSetSpec{
		Replicas: ptr.To(2 + r.Int32N(4)),
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: simulation.PodLabels(r)},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
		},
		UpdateStrategy: v1alpha1.CloneSetUpdateStrategy{Type: v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType, MaxUnavailable: ptr.To(intstr.FromInt32(3))},
	}}
	for range r.IntN(5) {
		simulation.Merge(set, simulation.AnyEdit(r, cloneSetEdits))
	}
	return set
}

// cloneSetEdits are what users change about a CloneSet: more often than not its image.
var (
	newImage      = simulation.ReadEdits("images")[0]
	cloneSetEdits = append(slices.Repeat([]simulation.Edit{newImage}, 10), simulation.ReadEdits("clonesets")...)
)

func actOnCloneSet(u *simulation.User, r *rand.Rand) {
	pod := u.AnyPod(r)
	switch n := r.IntN(20); {
	case n < 15 || pod == nil:
		u.Edit(simulation.AnyEdit(r, cloneSetEdits))
	case n < 17:
		u.AnswerHook(pod)
	case n == 17:
		u.PatchPod(pod.Name, `{"metadata":{"labels":{"apps.kruise.io/specified-delete":"true"}}}`)
	case n == 18:
		u.Disown(pod)
	case metav1.GetControllerOfNoCopy(pod) == nil && r.IntN(2) == 0: // which no controller replaces or takes back
		u.DeletePod(pod.Name, nil)
	default:
		u.Quarantine(pod)
	}
}
