// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// The nodes are simulated: they start containers without asking for ConfigMaps. A container whose image is bad does not
// become ready, so that the tests say when one does.

// prioritised returns a pod of containers with bad images and priorities: "main=0 log=5".
func prioritised(meta metav1.ObjectMeta, containers string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: meta}
	for container := range strings.FieldsSeq(containers) {
		name, priority, _ := strings.Cut(container, "=")
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
			Name: name, Image: name + ":bad", Env: []corev1.EnvVar{{Name: "KRUISE_CONTAINER_PRIORITY", Value: priority}},
		})
	}
	return pod
}

// createPod creates a pod and returns what was stored.
func (s *cloneSetFixture) createPod(pod *corev1.Pod) *corev1.Pod {
	s.Helper()
	stored, err := s.Core.CoreV1().Pods(s.Namespace).Create(s.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		s.Fatalf("create pod %s%s: expected no error, observed %v", pod.Name, pod.GenerateName, err)
	}
	s.Seen(stored.ResourceVersion)
	return stored
}

// becomesReady gives a container an image with which it does.
func (s *cloneSetFixture) becomesReady(pod, container string) {
	s.Helper()
	s.PatchPod(pod, map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": container, "image": container + ":1"}}}})
	s.AwaitPod(pod, container+" is ready", func(pod *corev1.Pod) string {
		for _, status := range pod.Status.ContainerStatuses {
			if status.Name == container && status.Ready {
				return ""
			}
		}
		return podstate.Describe(pod, false)
	})
}

// awaitKeys waits until the ConfigMap of a pod has exactly these keys.
func (s *cloneSetFixture) awaitKeys(rule string, pod *corev1.Pod, wanted ...string) {
	s.Helper()
	s.AwaitAsking(fmt.Sprintf("%s: the keys %v for pod %s", rule, wanted, pod.Name), func() string {
		configMap, err := s.Core.CoreV1().ConfigMaps(s.Namespace).Get(s.Context(), pod.Name+"-barrier", metav1.GetOptions{})
		if err != nil {
			return err.Error()
		}
		owned := slices.ContainsFunc(configMap.OwnerReferences, func(o metav1.OwnerReference) bool {
			return o.UID == pod.UID && o.Controller == nil && o.BlockOwnerDeletion == nil
		})
		if keys := slices.Sorted(maps.Keys(configMap.Data)); !owned || !slices.Equal(keys, wanted) {
			return fmt.Sprintf("keys %v, owners %v", keys, configMap.OwnerReferences)
		}
		return ""
	})
}

func TestContainersStartInOrder(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	pod := s.createPod(prioritised(metav1.ObjectMeta{GenerateName: "web-"}, "main=0 proxy=100 log=100 agent=-5"))
	if len(pod.Name) != len("web-")+5 {
		s.Errorf("LP-6: expected a name of web- and five characters, observed %s", pod.Name)
	}
	for i, key := range []string{"p_0", "p_100", "p_100", "p_-5"} {
		if got := barrier.Of(&pod.Spec.Containers[i]); len(got) != 1 || got[0].ConfigMap != pod.Name+"-barrier" || got[0].Key != key {
			s.Errorf("LP-5: expected that container %d waits for %s, observed %v", i, key, got)
		}
	}
	s.awaitKeys("LP-9", pod, "p_100")
	s.becomesReady(pod.Name, "proxy")
	s.awaitKeys("LP-10: log is not ready", pod, "p_100")
	s.becomesReady(pod.Name, "log")
	s.awaitKeys("LP-11", pod, "p_0", "p_100")
	s.becomesReady(pod.Name, "main")
	s.awaitKeys("LP-11", pod, "p_-5", "p_0", "p_100")
	s.becomesReady(pod.Name, "agent")
	s.AwaitPod(pod.Name, "it is ready", func(pod *corev1.Pod) string {
		if !podstate.InService(pod) {
			return podstate.Describe(pod, false)
		}
		return ""
	})
	s.DeletePod(pod.Name)
	s.AwaitAsking("LP-12: the ConfigMap goes with its pod", func() string {
		_, err := s.Core.CoreV1().ConfigMaps(s.Namespace).Get(s.Context(), pod.Name+"-barrier", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return ""
		}
		return fmt.Sprintf("reading it gives the error %v", err)
	})
}

// A pod that takes the name of another one, as those of a StatefulSet do, does not get the keys of that one.
func TestKeysAreOfOnePod(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	first := s.createPod(prioritised(metav1.ObjectMeta{Name: "web-0"}, "main=0 proxy=100"))
	s.awaitKeys("LP-9", first, "p_100")
	s.becomesReady(first.Name, "proxy")
	s.awaitKeys("LP-11", first, "p_0", "p_100")
	s.DeletePod(first.Name)
	s.AwaitGone(first, "deletion")
	second := s.createPod(prioritised(metav1.ObjectMeta{Name: "web-0"}, "main=0 proxy=100"))
	s.awaitKeys("a ConfigMap of its own", second, "p_100")
}

// A ConfigMap of the name that is not the pod's is left alone, and what to do is told, each time that it matters.
func TestConfigMapOfSomebodyElse(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	configMaps := s.Core.CoreV1().ConfigMaps(s.Namespace)
	if _, err := configMaps.Create(s.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web-barrier"}}, metav1.CreateOptions{}); err != nil {
		s.Fatal(err)
	}
	pod := s.createPod(prioritised(metav1.ObjectMeta{Name: "web"}, "main=0 side=0 proxy=100 log=100"))
	told := func(key string, times int32) {
		s.Helper()
		s.AwaitAsking(fmt.Sprintf("it is told %d times that %s is missing", times, key), func() string {
			events, err := s.Core.CoreV1().Events(s.Namespace).List(s.Context(), metav1.ListOptions{FieldSelector: "reason=FailedLaunchContainers,involvedObject.name=web"})
			if err != nil {
				return err.Error()
			}
			for _, event := range events.Items {
				if event.Count >= times && strings.Contains(event.Message, "ConfigMap web-barrier lacks "+key+" ") {
					return ""
				}
			}
			return fmt.Sprintf("%+v", events.Items)
		})
	}
	told("p_100", 1)
	s.becomesReady(pod.Name, "log") // it is still the turn of proxy
	told("p_100", 2)
	s.becomesReady(pod.Name, "proxy")
	told("p_0", 1)
	if err := configMaps.Delete(s.Context(), "web-barrier", metav1.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
	// It is still the turn of main, also when the manager looks again by itself, which it does after a minute.
	s.becomesReady(pod.Name, "side")
	s.awaitKeys("another one of its own", pod, "p_0")
}

func TestPriorityThatIsNone(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	pods := s.Core.CoreV1().Pods(s.Namespace)
	_, err := pods.Create(s.Context(), prioritised(metav1.ObjectMeta{Name: "web"}, "main=0 proxy=abc"), metav1.CreateOptions{})
	status, ok := err.(apierrors.APIStatus)
	if !ok || status.Status().Code != http.StatusInternalServerError || !strings.Contains(err.Error(), "spec.containers[proxy].env[KRUISE_CONTAINER_PRIORITY].value") {
		s.Errorf("LP-E3: expected code 500 and the field, observed %v", err)
	}
	if _, err := pods.Create(s.Context(), prioritised(metav1.ObjectMeta{Name: "single"}, "main=abc"), metav1.CreateOptions{}); err != nil {
		s.Errorf("LP-2: expected that nothing is said of a pod of one container, observed %v", err)
	}
	ordered := prioritised(metav1.ObjectMeta{Name: "ordered", Annotations: map[string]string{"apps.kruise.io/container-launch-priority": "Ordered"}}, "main=abc proxy=")
	stored, err := pods.Create(s.Context(), ordered, metav1.CreateOptions{})
	if err != nil {
		s.Fatalf("LP-E8: expected no error, observed %v", err)
	}
	if priority, ok := barrier.Priority(&stored.Spec.Containers[1]); !ok || priority != -1 {
		s.Errorf("LP-3: expected the priority -1, observed %d, %t", priority, ok)
	}
}

// The workload and the webhook both know what a pod needs; it gets it once.
func TestPodsOfCloneSetsStartInOrder(t *testing.T) {
	t.Parallel()
	s := newCloneSetFixture(t)
	s.run(cloneSet("web", 2, func(set *v1alpha1.CloneSet) {
		containers := set.Spec.Template.Spec.Containers
		containers[1].Env = append(containers[1].Env, corev1.EnvVar{Name: "KRUISE_CONTAINER_PRIORITY", Value: "7"})
	}))
	for _, pod := range s.owned("web") {
		for i, want := range []string{"p_0", "p_7"} {
			if got := barrier.Of(&pod.Spec.Containers[i]); len(got) != 1 || got[0].ConfigMap != pod.Name+"-barrier" || got[0].Key != want {
				s.Errorf("LP-5: expected that container %d of pod %s waits for %s, observed %v", i, pod.Name, want, got)
			}
		}
	}
}

// With the manager down, pods are still created, but for those that it would change.
func testPodsAreCreatedWithoutAManager(t *testing.T, b *bed) {
	s := b.cloneSetFixture(t)
	s.Manager.Kill()
	s.Cleanup(func() { s.revive() })
	pods := s.Core.CoreV1().Pods(s.Namespace)
	plain := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "plain", Annotations: map[string]string{"apps.kruise.io/container-launch-priority": "no"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a:1"}, {Name: "b", Image: "b:1", Env: []corev1.EnvVar{{Name: "A", Value: "b"}}}}},
	}
	for _, pod := range []*corev1.Pod{plain, prioritised(metav1.ObjectMeta{Name: "single"}, "main=5")} {
		if _, err := pods.Create(s.Context(), pod, metav1.CreateOptions{}); err != nil {
			s.Errorf("create pod %s: expected no error, observed %v", pod.Name, err)
		}
	}
	ordered := plain.DeepCopy()
	ordered.Name, ordered.Annotations["apps.kruise.io/container-launch-priority"] = "ordered", "Ordered"
	for _, pod := range []*corev1.Pod{ordered, prioritised(metav1.ObjectMeta{Name: "prioritised"}, "main=5 log=0")} {
		_, err := pods.Create(s.Context(), pod, metav1.CreateOptions{})
		if err == nil || !strings.Contains(err.Error(), "mpod.kb.io") {
			s.Errorf("create pod %s: expected that it is not started without order, observed %v", pod.Name, err)
		}
	}
}
