// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// TestSimulation has users change a SidecarSet at random, amid everything that can go
// wrong. Meanwhile pods come and go, and their workload updates them in place. The test
// judges each write of the controller.
func TestSimulation(t *testing.T) {
	simulation.Check(t, simulated(bug{}), simulation.Dying(simulated(bug{})))
}

// TestSimulationReplays plays a seed twice: not a line of the history may differ.
// A shorter one is the beginning of a longer one.
func TestSimulationReplays(t *testing.T) {
	simulation.CheckReplay(t, simulated(bug{}), 1)
}

// TestGate compares what the played webhook of the SidecarSet beside injects with what the webhook of the product would. So the
// golden hashes are those of its containers.
func TestGate(t *testing.T) {
	set := &v1alpha1.SidecarSet{ObjectMeta: metav1.ObjectMeta{Name: gate}, Spec: v1alpha1.SidecarSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"gate": "open"}},
		Containers: []v1alpha1.SidecarContainer{{Container: corev1.Container{Name: gate, Image: "gate:1"},
			UpgradeStrategy: v1alpha1.SidecarContainerUpgradeStrategy{UpgradeType: v1alpha1.SidecarContainerHotUpgrade, HotUpgradeEmptyImage: "empty:2"}}}}}
	synctest.Test(t, func(t *testing.T) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: simulation.Web.Namespace, Name: "web-0", Labels: map[string]string{"gate": "open"}},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main:1"}}}}
		result, err := injection.Inject(injection.Input{Pod: pod, SidecarSets: []*v1alpha1.SidecarSet{set}, Now: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		injectGate(pod)
		delete(result.Pod.Annotations, "kubectl.kubernetes.io/default-container") // kubectl reads it, and no controller
		if diff := cmp.Diff(result.Pod, pod); diff != "" {
			t.Errorf("injected (-by the product +by the one that is played):\n%s", diff)
		}
	})
}

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	unedited := map[string]string{"containers[].restartPolicy": "admission takes none"}
	for _, of := range []string{"containers[].", "initContainers[]."} {
		unedited[of+"name"] = "under another name it is another container, and those that pods have go on"
		unedited[of+"restartPolicyRules"] = "it is alpha"
		unedited[of+"startupProbe"] = "TestSimulationOfStartupProbes has it when the object is created"
		unedited[of+"volumeDevices"] = "no volume of the histories is a block device"
	}
	editing.Check(t, editing.Subject[v1alpha1.SidecarSet]{Create: ValidateCreate, Update: ValidateUpdate, Unedited: unedited},
		simulated(bug{}), later(bug{}, Features{}), simulatedNatives(bug{}))
}

// simulated is what a simulation needs to know of SidecarSets, whose controllers have a bug.
func simulated(bug bug) *simulation.Subject { return simulatedWith(bug, injection.Features{}) }

// simulatedWith is what a simulation needs to know of SidecarSets that inject with features.
func simulatedWith(bug bug, features injection.Features) *simulation.Subject {
	inject := injecting{webhookOf(features)}
	return &simulation.Subject{
		Resource:    setResource,
		Empty:       func() simulation.Object { return &v1alpha1.SidecarSet{} },
		ByContainer: true,
		Namespaces:  true,
		Create:      anySet,
		Populate:    inject.populate,
		Start:       startSimulated(bug, features),
		Act:         bug.Act(act),
		Rare:        actRarely,
		Others:      inject.actOthers,
		Release: func(u *simulation.User) {
			for _, pod := range u.Pods() {
				finishUpdate(u, pod)
			}
		},
		Push:  push,
		Judge: judgedAs(features, Features{}),
	}
}

// webhookOf injects into new pods with features, of all SidecarSets. It is as much under test as the controller.
func webhookOf(features injection.Features) func(*simulation.User, *corev1.Pod) *corev1.Pod {
	return func(u *simulation.User, pod *corev1.Pod) *corev1.Pod {
		var sets []*v1alpha1.SidecarSet
		for _, object := range u.Objects(setResource.Name) {
			sets = append(sets, object.(*v1alpha1.SidecarSet))
		}
		result, err := injection.Inject(injection.Input{Pod: pod, Namespace: u.Namespace(), SidecarSets: sets,
			Revisions: u.Revisions(), Features: features, Now: time.Now()})
		if err != nil {
			return nil
		}
		return result.Pod
	}
}

// judgedAs judges a controller that has these features.
func judgedAs(inject injection.Features, f Features) func(uint64) simulation.Judge {
	return func(uint64) simulation.Judge {
		past := invariants.NewPast()
		past.Sidecars = invariants.SidecarContract{Default: inject.Default, Natives: inject.NativeSidecars, PartitionRoundsUp: f.PartitionRoundsUp,
			ReplacePatch: f.ReplacePatch, UpgradableCondition: f.UpgradableCondition,
			Hashes: func(set *v1alpha1.SidecarSet) (containers, withoutImage string, err error) {
				hashes, err := inject.HashesOf(set)
				return hashes.Containers, hashes.WithoutImage, err
			}}
		return simulation.Judge{Observe: past.Observe, Write: past.SidecarSet, Settled: past.SidecarSetSettled}
	}
}

func startSimulated(bug bug, features injection.Features) func(*simulation.Process) (simulation.Controller, error) {
	return planted.Start(tested, bug, func(p *simulation.Process) (o Options, err error) {
		o.Injection, o.Reader = features, planted.Read(p, resourceSidecarSets, resourcePods, resourceRevisions, resourceNamespaces)
		if o.Kubernetes, err = p.Kubernetes(); err == nil {
			o.Sidecar, err = client.NewForConfig(p.Config)
		}
		return o, err
	})
}

// anySet is a SidecarSet of a seed: with containers that are upgraded cold, or hot, or both.
func anySet(r *rand.Rand) simulation.Object {
	set := &v1alpha1.SidecarSet{}
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	names := [][]string{{"log"}, {"mesh"}, {"log", "mesh"}, {"log", "mesh", "proxy"}}[r.IntN(4)]
	for _, name := range names {
		c := v1alpha1.SidecarContainer{Container: corev1.Container{Name: name, Image: name + ":1"}}
		if name != "log" {
			c.UpgradeStrategy = v1alpha1.SidecarContainerUpgradeStrategy{UpgradeType: v1alpha1.SidecarContainerHotUpgrade, HotUpgradeEmptyImage: "empty:1"}
		}
		set.Spec.Containers = append(set.Spec.Containers, c)
	}
	if r.IntN(3) == 0 {
		set.Spec.InitContainers = vpnAndSetup()
	}
	for range r.IntN(5) {
		simulation.Merge(set, simulation.AnyEdit(r, edits))
	}
	return set
}

// vpnAndSetup are a native sidecar, and one that ends.
func vpnAndSetup() []v1alpha1.SidecarContainer {
	return []v1alpha1.SidecarContainer{
		{Container: corev1.Container{Name: "vpn", Image: "vpn:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}},
		{Container: corev1.Container{Name: "setup", Image: "setup:1"}}}
}
