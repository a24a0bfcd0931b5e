// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// planWorkloads decides which workloads are created, changed and deleted. (UD-5, UD-10)
func (p *planner) planWorkloads() {
	p.plan.Delete = p.others
	for i := range p.plan.Subsets {
		r := p.rendering(i)
		subset := &p.plan.Subsets[i]
		wanted, err := r.render()
		if err != nil {
			p.problem(fmt.Errorf("spec.topology.subsets[%d].%w", i, err))
			continue
		}
		if subset.Child == nil {
			wanted.SetName(p.newName(subset.Name))
			p.plan.Create = append(p.plan.Create, Creation{Kind: p.plan.Kind, Subset: subset.Name, Object: wanted})
			continue
		}
		p.planUpdate(subset, r, wanted)
	}
}

// rendering is what the workload of a subset is made of.
func (p *planner) rendering(i int) *rendering {
	subset := &p.plan.Subsets[i]
	return &rendering{features: p.Features,
		set: p.Set, template: &p.Set.Spec.Template, subset: &p.Set.Spec.Topology.Subsets[i],
		revision: p.revision, replicas: subset.Replicas, partition: subset.Partition,
	}
}

// planUpdate changes a workload that is not as it should be. (UD-10)
func (p *planner) planUpdate(subset *SubsetPlan, r *rendering, wanted Object) {
	u := Update{Child: *subset.Child, Replicas: subset.Replicas, Partition: subset.Partition}
	if subset.Child.Revision != p.revision || p.madeOtherwise(subset.Child, r) {
		u.Wanted, u.last = wanted, p.last(subset.Child, r)
	} else if subset.Child.scaled(subset.Replicas, subset.Partition) {
		return
	}
	p.plan.Update = append(p.plan.Update, u)
}

// madeOtherwise tells whether a workload was written for another topology. One that does not
// say for which was written by OpenKruise, which knows no patches. (UD-9)
func (p *planner) madeOtherwise(c *Child, r *rendering) bool {
	if c.Hash == "" {
		return hasPatch(r.subset.Patch)
	}
	return c.Hash != r.hash()
}

// last is what a workload was made of last, but for its patch; nil if the history does
// not know.
func (p *planner) last(c *Child, r *rendering) *rendering {
	at := slices.IndexFunc(p.Revisions, func(r *appsv1.ControllerRevision) bool {
		return r != nil && revisionValue(r.Name) == c.Revision
	})
	if at < 0 {
		return nil
	}
	template, err := templateOf(p.Revisions[at])
	if err != nil {
		return nil
	}
	if kind, ok := kindOf(template); !ok || kind != c.Kind {
		return nil
	}
	before := *r
	before.template = template
	return &before
}

// maxPrefix is 63 less 11 and 5. It leaves room for what is generated at the end of a name. It leaves room, too, for the
// hash that a StatefulSet adds to its own name in the label of its pods' revision.
const maxPrefix = 47

// newName returns the name of a new workload: "<UnitedDeployment>-<subset>-" and five
// characters, which are always the same if the name is free. So a workload whose
// creation had no answer is not created twice. (UD-6)
func (p *planner) newName(subset string) string {
	prefix := p.Set.Name + "-" + subset + "-"
	if len(validation.NameIsDNSSubdomain(prefix, true)) > 0 {
		prefix = p.Set.Name + "-"
	}
	prefix = prefix[:min(len(prefix), maxPrefix)]
	for try := 0; ; try++ {
		generated := hashOf([]byte(string(p.Set.UID) + "/" + subset + "/" + strconv.Itoa(try)))
		name := prefix + generated[max(0, len(generated)-5):]
		if !slices.Contains(p.Taken, name) && !p.holds(name) {
			return name
		}
	}
}

// holds tells whether a workload of the kind of the template has a name, or is about to get it.
func (p *planner) holds(name string) bool {
	if slices.ContainsFunc(p.plan.Create, func(c Creation) bool { return c.Object.GetName() == name }) {
		return true
	}
	switch p.plan.Kind {
	case StatefulSet:
		return controller.Holds(p.StatefulSets)(name)
	case AdvancedStatefulSet:
		return controller.Holds(p.AdvancedStatefulSets)(name)
	case CloneSet:
		return controller.Holds(p.CloneSets)(name)
	}
	return controller.Holds(p.Deployments)(name)
}

// rawExtension is the patch that patchAnnotation holds; nil for none.
func rawExtension(patch string) *runtime.RawExtension {
	if patch == "" {
		return nil
	}
	return &runtime.RawExtension{Raw: []byte(patch)}
}

// subsetOf names the subset of pods and workloads by their labels.
func subsetOf(labels map[string]string) string { return labels[v1alpha1.SubsetNameLabel] }
