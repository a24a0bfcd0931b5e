// SPDX-License-Identifier: Apache-2.0

package realnodes

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/examples/tests/cluster/registry"
	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// LP-4, LP-5, LP-10, LP-11: three levels, of which the lowest is negative and that in the
// middle has no variable. Those of one level start together: each of them waits
// for the other. One that is late holds back those below it for as long.
func TestContainersStartByPriority(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const late = 4
	pod := s.pod("web", []string{"agent=" + ready, "main=" + after(late), "proxy=" + with("proxy", "log"), "log=" + with("log", "proxy")},
		priorities("agent=-5", "proxy=100", "log=100"))
	s.inOrder(pod, "proxy log", "main", "agent")
	s.startedOnce(pod)
	if waited := s.started(pod, "agent") - s.started(pod, "main"); waited < late*time.Second {
		t.Errorf("container agent started %s after main, which was not ready before %d s", waited, late)
	}
	if got := fmt.Sprint(s.keys("web")); got != "[p_-5 p_0 p_100]" {
		t.Errorf("keys %s", got)
	}
}

// LP-3 and LP-E8: the order of the annotation is that of the containers,
// whatever their variables say.
func TestContainersStartAsTheyStand(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web", []string{"first=" + after(2), "second=" + ready, "third=" + ready}, priorities("first=-7", "second=x"), func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{lifecyclev1alpha1.LaunchPriorityAnnotation: lifecyclev1alpha1.LaunchPriorityOrdered}
	})
	s.inOrder(pod, "first", "second", "third")
	s.startedOnce(pod)
}

// layered returns a CloneSet whose containers have three levels; the one in the
// middle is late.
func layered(image string, replicas int32) *workloadsv1alpha1.CloneSet {
	set := cloneSet("web", image, replicas)
	spec := &set.Spec.Template.Spec
	spec.Containers = shells(image, "last="+ready, "first="+ready, "main="+after(3), "side="+ready)
	prioritised(spec, "last=-1", "first=9")
	return set
}

// levels are those of layered.
var levels = []string{"first", "main side", "last"}

// The pods of a CloneSet are made with their order; each keeps it for itself.
func TestContainersOfCloneSetStartByPriority(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newScene(t)
	image, _ := s.image("v1", registry.Image{})
	for _, pod := range s.run(layered(image, 2)) {
		s.inOrder(pod, levels...)
		s.startedOnce(pod)
	}
}

// LP-E4: a container that does not become ready blocks those below it for as
// long as that is so.
func TestContainerBlocksThoseBelow(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newScene(t)
	s.create("web", []string{"main=" + ready, "proxy=" + endsAtOnce}, priorities("proxy=1"))
	pod := s.awaitContainer("web", "proxy", false, 0)
	s.refused("web", "main")
	s.heldBack("web", "main")
	if got := fmt.Sprint(s.keys("web")); got != "[p_1]" {
		t.Errorf("keys %s", got)
	}
	s.exec(pod, "proxy", "sh", "-c", "cat /proc/uptime >/ready")
	pod = s.AwaitPod("web", "all containers are ready", containersReady)
	s.inOrder(pod, "proxy", "main")
	s.startedOnce(pod)
}

// One that crashes before it is ready is waited for; the others start when it is
// back and ready.
func TestContainerCrashesAtTheStart(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web", []string{"main=" + ready, "proxy=mkdir /shared/crashed && exit 3; " + after(2)}, priorities("proxy=1"))
	s.inOrder(pod, "proxy", "main")
	s.restarted(pod, "proxy", 1, 3)
	s.untouched(pod, "main")
}

// LP-E5: one that fails later holds no other container back: those below it run on, and are
// restarted when they fail too.
func TestContainerCrashesLater(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web", []string{"main=" + ready, "side=" + ready, "proxy=until mkdir /shared/let-in; do sleep 0.1; done; " + ready},
		priorities("proxy=1"))
	s.crash(pod, "proxy")
	s.awaitContainer("web", "proxy", false, 1)
	s.crash(pod, "main")
	pod = s.awaitContainer("web", "main", true, 1)
	if proxy := podstate.ContainerStatus(pod, "proxy"); proxy.Ready {
		t.Errorf("container proxy is ready, which was to fail: %+v", proxy)
	}
	s.untouched(pod, "side")
	s.exec(pod, "side", "rmdir", "/shared/let-in")
	pod = s.awaitContainer("web", "proxy", true, 1)
	s.untouched(pod, "side")
}

// LP-13, LP-14: new images are given to containers level by level, each when the one
// above is ready again; those of one level at once.
func TestImagesByPriority(t *testing.T) {
	testbed.Long(t)
	t.Parallel()
	s := newScene(t)
	image, _ := s.image("v1", registry.Image{})
	pod := s.run(layered(image, 1))[0]
	s.setImages()
	s.updated(pod)
}

// withoutManager kills the manager, calls meanwhile, and starts it again.
func withoutManager(t *testing.T, meanwhile func()) {
	t.Helper()
	bed.Manager.Kill()
	t.Cleanup(func() { startAgain(t) })
	defer func() {
		if err := bed.Manager.Start(); err != nil {
			t.Error(err)
		}
	}()
	meanwhile()
}

// While no manager is at work, no container starts out of turn; the next one goes on.
// The same holds for the batches of an update. Not parallel.
func TestManagerIsKilledWhileContainersStart(t *testing.T) {
	testbed.Long(t)
	t.Run("start", func(t *testing.T) {
		s := newScene(t)
		s.create("web", []string{"main=" + ready, "proxy=" + endsAtOnce}, priorities("proxy=1"))
		withoutManager(t, func() {}) // before or after the first key
		pod := s.awaitContainer("web", "proxy", false, 0)
		withoutManager(t, func() {
			s.exec(pod, "proxy", "sh", "-c", "cat /proc/uptime >/ready")
			s.awaitContainer("web", "proxy", true, 0)
			s.refused("web", "main")
			s.heldBack("web", "main")
		})
		pod = s.AwaitPod("web", "all containers are ready", containersReady)
		s.inOrder(pod, "proxy", "main")
		s.startedOnce(pod)
	})
	t.Run("update", func(t *testing.T) {
		s := newScene(t)
		image, _ := s.image("v1", registry.Image{})
		pod := s.run(layered(image, 1))[0]
		s.setImages()
		s.awaitContainer(pod.Name, "main", false, 1)
		withoutManager(t, func() { s.untouched(s.awaitContainer(pod.Name, "main", true, 1), "last") })
		s.updated(pod)
	})
}
