// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/testbed/podhistory"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

const hotEmpty = "empty:1"

// Two hot upgrades: the second one is asked for in the middle of the first. At every moment one of both containers serves. The
// second upgrade begins in a pod that is Ready when the container of the first is seen to be empty. (SCS-16 to SCS-19, SCS-W8)
func TestSidecarSetHotUpgrade(t *testing.T) {
	t.Parallel()
	s := newSidecarFixture(t, steady)
	set := s.sidecarSet("mesh")
	set.Spec.Containers = []v1alpha1.SidecarContainer{{Container: corev1.Container{Name: "mesh", Image: "mesh:1"},
		UpgradeStrategy: v1alpha1.SidecarContainerUpgradeStrategy{UpgradeType: v1alpha1.SidecarContainerHotUpgrade, HotUpgradeEmptyImage: hotEmpty}}}
	set = s.run(set)
	for i := range 3 {
		if _, err := s.Core.CoreV1().Pods(s.Namespace).Create(s.Context(), plainPod(fmt.Sprint("web-", i), webPod), metav1.CreateOptions{}); err != nil {
			s.Fatalf("create a pod: %v", err)
		}
	}
	s.awaitStatus(set.Name, "3 matched, 3 updated, 3 ready, 3 both")
	s.CatchUp()
	since := len(s.history.Changes())

	s.setMesh(set.Name, "mesh:2")
	s.Await("the first upgrade is in the middle of a pod", func() string {
		for _, pod := range s.Pods.All() {
			if podstate.ContainerStatus(pod, "mesh-2").Image == "mesh:2" {
				return ""
			}
		}
		return "it is not"
	})
	s.setMesh(set.Name, "mesh:3")
	s.awaitStatus(set.Name, "3 matched, 3 updated, 3 ready, 3 both")
	s.CatchUp()

	upgraded := []string{}
	for _, track := range podhistory.Tracks(s.history.Changes(), since) {
		upgraded = append(upgraded, s.judgeHotUpgrades(set.Name, track))
	}
	if slices.Sort(upgraded); len(upgraded) != 3 || !slices.Contains(upgraded, "mesh:1 mesh:2 mesh:3 ") {
		s.Errorf("SCS-19: expected one of three pods to be upgraded twice in a row, observed %q", upgraded)
	}
	s.AwaitAsking("SCS-W8: an event about each pod whose container was emptied", func() string {
		events, err := s.Core.CoreV1().Events(s.Namespace).List(s.Context(), metav1.ListOptions{FieldSelector: "reason=" + v1alpha1.SidecarSetEventResetSucceeded})
		if err != nil {
			return err.Error()
		}
		about := map[string]bool{}
		for _, event := range events.Items {
			about[event.InvolvedObject.Name] = true
		}
		if len(about) != 3 {
			return fmt.Sprint(about)
		}
		return ""
	})
}

// setMesh asks for another image of the hot container.
func (s *sidecarFixture) setMesh(name, image string) {
	s.Helper()
	s.patch(name, fmt.Sprintf(`{"spec":{"containers":[{"name":"mesh","image":%q,"upgradeStrategy":{"upgradeType":"HotUpgrade","hotUpgradeEmptyImage":%q}}]}}`, image, hotEmpty))
}

// judgeHotUpgrades judges all that a pod has been, and returns the images that it worked with.
func (s *sidecarFixture) judgeHotUpgrades(set string, track *podhistory.Track) (images string) {
	s.Helper()
	first, second := injection.HotContainers("mesh")
	names := []string{first, second}
	var before *corev1.Pod
	last := ""
	for _, pod := range track.States {
		if !slices.ContainsFunc(names, func(name string) bool { return podstate.Image(pod, name) != hotEmpty && podstate.Runs(pod, name) }) {
			s.Errorf("SCS-16: no container of mesh serves: %s", podstate.Describe(pod, false))
		}
		records, err := injection.Records(pod, v1alpha1.SidecarSetHashAnnotation)
		if err != nil {
			s.Fatalf("the records of pod %s: %v", pod.Name, err)
		}
		if hash := records[set].SidecarSetHash; hash != last {
			idle := slices.IndexFunc(names, func(name string) bool { return before != nil && podstate.Image(before, name) == hotEmpty })
			if before != nil && readiness.Ready(before) && (idle < 0 || !podstate.Runs(before, names[idle])) {
				s.Errorf("SCS-19: upgraded before a container is seen to be empty: %s", podstate.Describe(before, false))
			}
			last = hash
			for _, name := range names {
				if image := podstate.Image(pod, name); image != hotEmpty && (before == nil || image != podstate.Image(before, name)) {
					images += image + " "
				}
			}
		}
		before = pod
	}
	if n := podstate.ContainerStatus(before, "main").RestartCount; n > 0 {
		s.Errorf("SCS-16: main of pod %s was restarted %d times", before.Name, n)
	}
	return images
}
