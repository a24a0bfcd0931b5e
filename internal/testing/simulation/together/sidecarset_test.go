// SPDX-License-Identifier: Apache-2.0

package together

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

func sidecarSets(bug simulation.Spoil[sidecarset.Options, sidecarset.Reconciler]) *simulation.Subject {
	resource := fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("SidecarSet"), "sidecarsets")
	resource.ClusterScoped = true
	return &simulation.Subject{
		Resource: resource,
		Empty:    func() simulation.Object { return &v1alpha1.SidecarSet{} },
		Create:   anySidecarSet,
		Start:    planted.Start(ofSidecarSets, bug, optionsOfSidecarSets),
		Act:      actOnSidecarSet,
		Push: func(u *simulation.User) {
			editImages(u, func(c *v1alpha1.SidecarContainer) string { return "9" })
			u.Edit(`{"spec":{"updateStrategy":{"paused":false,"partition":0,"maxUnavailable":1}}}`)
		},
		Judge: judgesSidecars,
	}
}

func judgesSidecars(uint64) simulation.Judge {
	past := invariants.NewPast()
	past.Sidecars = invariants.SidecarContract{Default: injection.Default, Owned: true,
		Hashes: func(set *v1alpha1.SidecarSet) (containers, withoutImage string, err error) {
			hashes, err := injection.HashesOf(set)
			return hashes.Containers, hashes.WithoutImage, err
		}}
	return simulation.Judge{Observe: past.Observe, Write: past.SidecarSet, Settled: past.SidecarSetSettled}
}

var ofSidecarSets = fixture.Package[sidecarset.Options, sidecarset.Snapshot, sidecarset.Plan]{
	NewReconciler: sidecarset.NewReconciler, ClusterScoped: true,
	Acts: func(p *sidecarset.Plan) bool {
		return p.Revisions.Any() || p.CustomVersion != "" || !p.Stage.Empty() || p.Status != nil
	}}

func optionsOfSidecarSets(p *simulation.Process) (o sidecarset.Options, err error) {
	o.Reader = planted.Read(p, "sidecarsets", caches.Pods, caches.Revisions)
	if o.Kubernetes, err = p.Kubernetes(); err == nil {
		o.Sidecar, err = client.NewForConfig(p.Config)
	}
	return o, err
}

// anySidecarSet is the SidecarSet of a seed: with containers that are upgraded cold, or hot, or both.
func anySidecarSet(r *rand.Rand) simulation.Object {
	set := &v1alpha1.SidecarSet{}
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	for _, name := range [][]string{{"log"}, {"log"}, {"mesh"}, {"log", "mesh"}}[r.IntN(4)] {
		c := v1alpha1.SidecarContainer{Container: corev1.Container{Name: name, Image: name + ":1"}}
		if name == "mesh" {
			c.UpgradeStrategy = v1alpha1.SidecarContainerUpgradeStrategy{UpgradeType: v1alpha1.SidecarContainerHotUpgrade, HotUpgradeEmptyImage: "empty:1"}
		}
		set.Spec.Containers = append(set.Spec.Containers, c)
	}
	for range r.IntN(4) {
		simulation.Merge(set, simulation.AnyEdit(r, sidecarSetEdits))
	}
	return set
}

var sidecarSetEdits = simulation.ReadEdits("sidecarsets")

func actOnSidecarSet(u *simulation.User, r *rand.Rand) {
	if r.IntN(4) == 0 {
		u.Edit(simulation.AnyEdit(r, sidecarSetEdits))
		return
	}
	editImages(u, func(*v1alpha1.SidecarContainer) string {
		return []string{"1", "2", "3", "4", "5", "6", "7", "bad", "nopull", "nopull"}[r.IntN(10)]
	})
}

func editImages(u *simulation.User, tag func(*v1alpha1.SidecarContainer) string) {
	set := u.Workload().DeepCopyObject().(*v1alpha1.SidecarSet)
	for i := range set.Spec.Containers {
		c := &set.Spec.Containers[i]
		c.Image = fmt.Sprint(c.Name, ":", tag(c))
	}
	data, err := json.Marshal(set.Spec.Containers)
	if err != nil {
		panic(err)
	}
	u.Edit(`{"spec":{"containers":` + string(data) + `}}`)
}
