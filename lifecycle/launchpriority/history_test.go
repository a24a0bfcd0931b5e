// SPDX-License-Identifier: Apache-2.0

package launchpriority

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/internal/testing/simulation"
)

// history is the pod web, which is deleted and made anew now and then, amid the kubelet, the garbage collector and users. The controller has a
// cache that may be old. It is started anew, and its requests may fail or lose their answer.
type history struct {
	*cluster
	*rand.Rand
	stop       func()
	lock       sync.Mutex
	pods       map[types.UID]*corev1.Pod
	ready      map[types.UID]map[string]bool // the containers of each pod that have been ready
	violations []string
}

// TestHistories: a container begins when all containers of higher priorities have been ready, and every one begins at last, whatever
// has happened. (LP-9, LP-10, LP-11, LP-12, LP-17, LP-18)
func TestHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(25) {
		for _, violation := range playHistory(t, seed, nil) {
			t.Errorf("seed %d: %s", seed, violation)
		}
	}
}

// playHistory plays the history of a seed with a controller whose requests a bug may change. It returns what the history violates.
func playHistory(t *testing.T, seed uint64, bug func(http.RoundTripper) http.RoundTripper) []string {
	t.Helper()
	h := &history{Rand: rand.New(rand.NewPCG(seed, 0))}
	h.pods, h.ready = map[types.UID]*corev1.Pod{}, map[types.UID]map[string]bool{}
	fixture.Play(t, configMaps, func(c *fixture.Cluster) {
		h.cluster = newCluster(c)
		config := c.Config(fixture.ControllerUser)
		config.Wrap(bug)
		var err error
		h.Options.Kubernetes, err = kubernetes.NewForConfig(config)
		h.Must(err)
		h.Options.Features = FeaturesOf([]podwright.Release{podwright.Release14, podwright.Release19}[h.IntN(2)])
		h.Kubelet.Server = nil // it sends requests
	}, func(*testing.T) {
		_, h.stop = h.Run()
		h.faults(nil)
		h.makePod()
		for range 60 {
			h.act()
			h.Sleep([]string{"10ms", "1s", "70s"}[h.IntN(3)])
		}
		h.calm()
		h.stop()
	})
	return h.violations
}

func (h *history) violate(rule, format string, args ...any) {
	h.violations = append(h.violations, rule+": "+fmt.Sprintf(format, args...))
}

// faults has requests of the controller fail, while all are judged.
func (h *history) faults(fail func(fakecluster.Request) error) {
	h.FailBefore(func(r fakecluster.Request) error {
		h.see(&r)
		if fail != nil {
			return fail(r)
		}
		return nil
	})
}

// act has something happen.
func (h *history) act() {
	pod := h.pod()
	any := pod.Spec.Containers[h.IntN(len(pod.Spec.Containers))].Name
	switch n := h.IntN(20); {
	case n < 7:
		h.KubeletStep()
	case n < 11:
		h.image([]string{any}, "good")
	case n == 11:
		h.image([]string{any}, "bad")
	case n == 12:
		h.CollectGarbage()
	case n == 13 && h.configMap() == nil:
		h.createConfigMap("none")
	case n == 14 && h.configMap() != nil:
		h.deleteConfigMap()
	case n == 15:
		h.RemovePod(pod.Name)
		h.makePod()
	case n == 16:
		h.Hold("pods")
	case n == 17:
		h.Release("pods")
	case n == 18:
		h.faults([]func(fakecluster.Request) error{nil, fixture.Sometimes(h.Uint64())}[h.IntN(2)])
	default:
		h.stop()
		_, h.stop = h.Run()
	}
}

// makePod makes a pod of containers with priorities, some of which are the same, and one without.
func (h *history) makePod() {
	containers := []string{"last=0"}
	for i := range 2 + h.IntN(3) {
		containers = append(containers, fmt.Sprintf("c%d=%d", i, h.IntN(4)-1))
	}
	h.create(containers)
}

// see notes which containers are ready, before any watch tells of it, and judges what the controller writes.
func (h *history) see(r *fakecluster.Request) {
	if slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
		return
	}
	h.lock.Lock()
	defer h.lock.Unlock()
	pod, err := h.Kube.CoreV1().Pods(fixture.Web.Namespace).Get(h.T.Context(), fixture.Web.Name, metav1.GetOptions{})
	if err == nil && h.pods[pod.UID] == nil {
		h.pods[pod.UID], h.ready[pod.UID] = pod, map[string]bool{}
	}
	switch {
	case r.User == fixture.TestUser && strings.HasSuffix(r.String(), " pods/status"):
		var pod corev1.Pod
		if r.Name != fixture.Web.Name || json.Unmarshal(r.Body, &pod) != nil {
			return
		}
		for _, s := range pod.Status.ContainerStatuses {
			if s.Ready {
				h.ready[pod.UID][s.Name] = true
			}
		}
	case r.User == fixture.ControllerUser && r.String() == "patch pods": // it is marked
		var marked metav1.PartialObjectMetadata
		h.Must(json.Unmarshal(r.Body, &marked))
		keys := " " + h.keys() + " "
		for _, c := range h.pods[marked.UID].Spec.Containers {
			if !h.ready[marked.UID][c.Name] && h.pod().UID == marked.UID && !strings.Contains(keys, " p_"+c.Env[0].Value+" ") {
				h.violate("LP-18", "it says that all keys are written, and that of %s is not: %s", c.Name, keys)
			}
		}
	case r.User == fixture.ControllerUser && r.Resource == "configmaps" && slices.Contains([]string{"create", "patch"}, r.Verb):
		var written corev1.ConfigMap
		h.Must(json.Unmarshal(r.Body, &written))
		of := &written
		if r.Verb == "patch" {
			if of = h.configMap(); of == nil || of.UID != written.UID {
				return // it is refused
			}
		}
		if len(of.OwnerReferences) != 1 || h.pods[of.OwnerReferences[0].UID] == nil {
			h.violate("LP-9", "keys %v are written to the ConfigMap of another: %v", written.Data, of.OwnerReferences)
			return
		}
		h.judge(of.OwnerReferences[0].UID, written.Data)
	}
}

// judge judges the keys that are written for a pod.
func (h *history) judge(pod types.UID, keys map[string]string) {
	for key := range keys {
		for _, c := range h.pods[pod].Spec.Containers {
			var begins, priority int
			_, err := fmt.Sscan(strings.TrimPrefix(key, "p_")+" "+c.Env[0].Value, &begins, &priority)
			if err != nil || begins < priority && !h.ready[pod][c.Name] {
				h.violate("LP-11", "%s begins before %s of %d has been ready", key, c.Name, priority)
			}
		}
	}
}

// calm takes away what stands in the way. Then all containers become ready, and the controller has nothing left to do.
func (h *history) calm() {
	h.Release("pods")
	h.faults(nil)
	for range 12 {
		h.CollectGarbage()
		if found := h.configMap(); found != nil && len(found.OwnerReferences) == 0 {
			h.deleteConfigMap()
		}
		for _, c := range h.pod().Spec.Containers {
			h.image([]string{c.Name}, "good")
		}
		h.KubeletStep()
		h.Sleep("70s")
	}
	synctest.Wait()
	pod := h.pod()
	for _, s := range pod.Status.ContainerStatuses {
		if !s.Ready {
			h.violate("LP-10", "%s does not become ready, and the ConfigMap has %s", s.Name, h.keys())
		}
	}
	if left := h.Unfinished(); left != "" {
		h.violate("LP-12", "this is left to do: %s", left)
	}
	if h.marked() != h.Options.Features.MarkCompleted {
		h.violate("LP-18", "all keys are written, and the pod is marked: %t", h.marked())
	}
}

// TestHistoriesFindBugs plants bugs into what is sent, each of which a few histories must find.
func TestHistoriesFindBugs(t *testing.T) {
	t.Parallel()
	for _, bug := range []struct {
		name, breaks string
		wrap         func(http.RoundTripper) http.RoundTripper
	}{
		{"all keys are written at once", "LP-11", simulation.SpoilBodies(http.MethodPatch, "configmaps", func(body map[string]any) {
			body["data"] = map[string]any{"p_2": "true", "p_1": "true", "p_0": "true", "p_-1": "true"}
		})},
		{"ConfigMaps belong to no pod", "LP-9", simulation.Forgetting(http.MethodPost, "configmaps", "metadata", "ownerReferences")},
		{"no key is added", "LP-10", simulation.SpoilBodies(http.MethodPatch, "configmaps", func(body map[string]any) { delete(body, "data") })},
		{"pods are not marked", "LP-18", simulation.Forgetting(http.MethodPatch, "pods", "metadata", "annotations")},
	} {
		t.Run(bug.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(20) {
				for _, violation := range playHistory(t, seed, bug.wrap) {
					if strings.HasPrefix(violation, bug.breaks) {
						return
					}
				}
			}
			t.Errorf("no violation of %s", bug.breaks)
		})
	}
}
