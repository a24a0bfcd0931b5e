// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/internal/nodefit"
	"github.com/podwright/podwright/lifecycle/readiness"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

const (
	progressiveAnnotation = v1alpha1.DaemonSetProgressiveCreateAnnotation

	// With this annotation on a DaemonSet its pods have this label.
	templateGenerationAnnotation = appsv1.DeprecatedTemplateGeneration
	templateGenerationLabel      = "pod-template-generation"

	// directScheduler is no scheduler: it keeps all of them from pods that have a node.
	directScheduler = "kubernetes.io/daemonset-controller"
)

// create creates the pod of a node. If the update leaves the node out, the pod has
// the current revision, as long as that one can run there. (DS-5)
func (p *planner) create(n *nodePods, held bool) {
	if maker := p.makerOfCurrent(); held && maker != nil && maker.fits.Check(n.node) == "" {
		p.createOf(maker, n)
		return
	}
	if p.plan.Revisions.Refused == nil {
		p.createUpdated(n)
	}
}

// createUpdated creates a pod of the present template.
func (p *planner) createUpdated(n *nodePods) {
	if p.fresh == nil {
		maker, err := p.newMaker(p.plan.Revisions.Update, &p.Set.Spec.Template)
		if err != nil {
			p.Problem(failedCreate, err)
			maker = &podMaker{broken: true}
		}
		p.fresh = maker
	}
	p.createOf(p.fresh, n)
}

func (p *planner) createOf(maker *podMaker, n *nodePods) {
	if !maker.broken {
		p.Stage.Create = append(p.Stage.Create, rollout.PodCreation{Pod: maker.pod(n.name, p.former(n), p.takenNames())})
	}
}

// makerOfCurrent makes pods of the current revision; nil if that is the present
// template, or it is not known what it is.
func (p *planner) makerOfCurrent() *podMaker {
	current := p.plan.Revisions.Current
	if p.old == nil && current != p.plan.Revisions.Update {
		template, err := revision.Template(current.Data.Raw)
		if err == nil {
			p.old, err = p.newMaker(current, template)
		}
		if err != nil {
			p.Problem(failedCreate, fmt.Errorf("create pods of revision %s on nodes that the update leaves out: %w; they get the present template", current.Name, err))
			p.old = &podMaker{broken: true}
		}
	}
	if p.old == nil || p.old.broken {
		return nil
	}
	return p.old
}

// takenNames are the names that new pods cannot have.
func (p *planner) takenNames() map[string]bool {
	if p.taken == nil {
		p.taken = make(map[string]bool, len(p.Snapshot.Pods)+len(p.Taken))
		for _, pod := range p.Snapshot.Pods {
			p.taken[pod.Name] = true
		}
		maps.Copy(p.taken, p.Taken)
	}
	return p.taken
}

// podMaker makes the pods of a revision. What they have in common they share: hundreds
// are made at once, and none is changed.
type podMaker struct {
	set    *v1alpha1.DaemonSet
	pods   corev1.Pod // what they have in common
	fits   *nodefit.Checker
	direct bool
	broken bool // none can be made
}

// newMaker returns a maker of the pods of a revision. (DS-5, DS-7, DS-15)
func (p *planner) newMaker(from *appsv1.ControllerRevision, template *corev1.PodTemplateSpec) (*podMaker, error) {
	if err := p.Selects(template); err != nil {
		return nil, fmt.Errorf("create pods of revision %s: %w", from.Name, err)
	}
	pod := p.NewPod("", template)
	p.LabelRevision(from.Name, func(key, value string) { pod.Labels[key] = value })
	if generation, given := p.Set.Annotations[templateGenerationAnnotation]; given {
		pod.Labels[templateGenerationLabel] = generation
	}
	pod.GenerateName = p.Set.Name + "-"
	pod.Spec.Tolerations = tolerations(&pod.Spec)
	if p.Workload.InPlace.Allowed {
		readiness.AddGate(&pod.Spec, inplacev1alpha1.InPlaceUpdateReady)
	}
	if hooks := p.Workload.Hooks; hooks != nil && hooks.PreDelete != nil && hooks.PreDelete.MarkPodNotReady {
		readiness.AddGate(&pod.Spec, lifecyclev1alpha1.KruisePodReady)
	}
	return &podMaker{set: p.Set, pods: *pod, fits: nodefit.NewDaemon(daemonSpec(&template.Spec)), direct: p.Features.AssignDirectly}, nil
}

// former is the name of the pod that a node had last. (DS-7)
func (p *planner) former(n *nodePods) string {
	if name := p.Former[n.name]; name != "" || n.last == nil {
		return name
	}
	return n.last.Name
}

// pod makes the pod of a node that had the former one, and takes a name for it. (DS-7)
func (m *podMaker) pod(node, former string, taken map[string]bool) *corev1.Pod {
	pod := m.pods
	for sequence := 0; pod.Name == "" || taken[pod.Name]; sequence++ {
		pod.Name = nodefit.PodName(m.set, node, former, sequence)
	}
	taken[pod.Name] = true
	if m.direct {
		pod.Spec.NodeName, pod.Spec.SchedulerName = node, directScheduler
	} else {
		nodefit.Pin(&pod.Spec, node)
	}
	return &pod
}
