// SPDX-License-Identifier: Apache-2.0

package nodepodprobe

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestSimulationFindsBugs plants bugs into the controllers: a few seeds must find each.
func TestSimulationFindsBugs(t *testing.T) {
	plant := simulation.Plant(t, func(b bug) *simulation.Subject { return simulated(&b) })
	plant("what is not known has failed", invariants.Status, 2, inPlan(onPatches(func(p *PodPatch) {
		for i := range p.Conditions {
			if p.Conditions[i].Status == corev1.ConditionUnknown {
				p.Conditions[i].Status = corev1.ConditionFalse
			}
		}
	})))
	plant("what another state has set stays", invariants.Status, 0, inPlan(onPatches(func(p *PodPatch) {
		for key, value := range p.Labels {
			if value == nil {
				delete(p.Labels, key)
			}
		}
	})))
	plant("labels are written without the condition", invariants.Status, 0, inPlan(onPatches(func(p *PodPatch) {
		if len(p.Labels) > 0 {
			p.Conditions = nil
		}
	})))
	plant("what one probe sets another removes", invariants.Status, 5, inSnapshot(func(s *Snapshot) {
		for _, markers := range s.Markers {
			for _, m := range markers {
				for i := range m.Spec.Probes {
					m.Spec.Probes[i].MarkerPolicy = slices.DeleteFunc(m.Spec.Probes[i].MarkerPolicy, func(p v1alpha1.ProbeMarkerPolicy) bool {
						return p.State == v1alpha1.ProbeSucceeded && p.Labels["busy"] != ""
					})
				}
			}
		}
	}))
	plant("a marker that goes takes the probes of others", invariants.Placement, 9, inPlan(func(s *Snapshot, p *Plan) {
		if p.Spec == nil {
			return
		}
		for _, markers := range s.Markers {
			for _, m := range markers {
				if m.DeletionTimestamp == nil {
					continue
				}
				for i := range p.Spec.PodProbes {
					probes := &p.Spec.PodProbes[i].Probes
					*probes = slices.DeleteFunc(*probes, func(c v1alpha1.ContainerProbe) bool { return strings.Contains(c.Name, m.Name+"#") })
				}
			}
		}
	}))
	plant("probes that no marker asks for stay", invariants.Settled, 0, inPlan(func(_ *Snapshot, p *Plan) {
		if len(p.Dropped) > 0 {
			p.Spec = nil
		}
	}))
	plant("init containers are probed", invariants.Placement, 0, inSnapshot(func(s *Snapshot) {
		for _, pod := range s.Pods {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodInitialized, Status: corev1.ConditionTrue})
		}
	}))
	plant("results are not written", invariants.Settled, 0, inPlan(func(_ *Snapshot, p *Plan) { p.Patches = nil }))
	plant("no look after a while", invariants.Settled, 17, often(editsResults, inPlan(func(_ *Snapshot, p *Plan) { p.RequeueAfter = 0 })))
	plant("virtual nodes are probed by agents", invariants.Needless, 1, inSnapshot(func(s *Snapshot) {
		if s.Serverless = false; s.Node != nil {
			s.Node.Labels = nil
		}
	}))
	plant("conditions of virtual nodes are not followed", invariants.Settled, 19, inPlan(func(s *Snapshot, p *Plan) {
		if virtual(s.Node) {
			p.Patches = nil
		}
	}))
	plant("new pods get the probes of markers that do not select them", invariants.Placement, 0, bug{webhookSees: func(pod *corev1.Pod) { pod.Labels = map[string]string{"app": "web"} }})
	plant("the markers that a new pod names do not matter", invariants.Placement, 0, bug{webhookSees: func(pod *corev1.Pod) { pod.Annotations = nil }})
	plant("new pods do not say of which markers they have probes", invariants.Placement, 0, bug{webhookMakes: func(pod *corev1.Pod) { delete(pod.Annotations, v1alpha1.PodProbeMarkersAnnotation) }})
	plant("a type of two probes is handed over twice", invariants.Placement, 0, bug{webhookMakes: twice})
	plant("nodes get no NodePodProbe", invariants.Settled, 0, inPlan(func(_ *Snapshot, p *Plan) { p.Create = nil }))
	plant("NodePodProbes outlive their nodes", invariants.Settled, 2, inPlan(func(_ *Snapshot, p *Plan) { p.Delete = false }))
	plant("a marker goes before its probes", invariants.Ownership, 1, bug{blind: true, controller: spoil{Often: func(u *simulation.User, r *rand.Rand) {
		u.DeleteObject(markersPlayed, simulation.Web.Name, metav1.DeletePropagationBackground)
	}}})
	plant("results hit whatever pod has the name", invariants.Ownership, 0,
		onWire(simulation.Forgetting(http.MethodPatch, "pods", "metadata", "uid")))
	plant("a deletion hits whatever has the name", invariants.Ownership, 0, onWire(simulation.SpoilDeletions(`{}`)))
}

// bug is a bug of one of the controllers. Its zero value is none.
type bug struct {
	controller spoil
	// blind hides NodePodProbes from the controller of markers.
	blind bool
	// webhookSees changes copies of the pods that the webhook is asked about, webhookMakes what it has made of them.
	webhookSees, webhookMakes func(*corev1.Pod)
}

// twice has the first probe of a pod run twice.
func twice(pod *corev1.Pod) {
	if text := pod.Annotations[v1alpha1.PodProbesAnnotation]; text != "" {
		first, _, _ := strings.Cut(strings.TrimPrefix(text, "["), `},{"name"`)
		pod.Annotations[v1alpha1.PodProbesAnnotation] = "[" + strings.TrimSuffix(strings.TrimSuffix(first, "]"), "}") + "}," + strings.TrimPrefix(text, "[")
	}
}

type spoil = simulation.Spoil[Options, Reconciler]

// often has users do something more often, which makes a bug show.
func often(do func(*simulation.User, *rand.Rand), b bug) bug {
	b.controller.Often = do
	return b
}

// editsResults has a user change a label that results have.
func editsResults(u *simulation.User, r *rand.Rand) {
	if pod := u.AnyPod(r); pod != nil {
		u.PatchPod(pod.Name, `{"metadata":{"labels":{"idle":"maybe"}}}`)
	}
}

// inPlan plants a bug into plans, inSnapshot into what they are made of, and onWire into requests.
func inPlan(change func(*Snapshot, *Plan)) bug {
	return bug{controller: planted.InPlan[Options](change)}
}

func inSnapshot(change func(*Snapshot)) bug {
	return bug{controller: planted.Misread[Options, Snapshot, Plan](change)}
}

func onWire(wrap func(http.RoundTripper) http.RoundTripper) bug {
	return bug{controller: simulation.OnWire[Options, Reconciler](wrap)}
}

// onPatches changes all patches of a plan, and drops those that change nothing any more.
func onPatches(change func(*PodPatch)) func(*Snapshot, *Plan) {
	return func(_ *Snapshot, p *Plan) {
		for i := range p.Patches {
			change(&p.Patches[i])
		}
		p.Patches = slices.DeleteFunc(p.Patches, func(patch PodPatch) bool { return !patch.Changes(patch.Pod) })
	}
}
