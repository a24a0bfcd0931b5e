// SPDX-License-Identifier: Apache-2.0

package barrier_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

// podOf returns the pod web of containers with priorities, as in "main=0 log=5 side", of which side has none. A patch changes it.
func podOf(t *testing.T, containers []datadriven.CmdArg, patch string) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	for _, given := range containers {
		c := corev1.Container{Name: given.Key}
		if given.Vals != nil {
			c.Env = []corev1.EnvVar{{Name: "KRUISE_CONTAINER_PRIORITY", Value: given.Vals[0]}}
		}
		pod.Spec.Containers = append(pod.Spec.Containers, c)
	}
	if patch != "" {
		patches.Merge(t, pod, patch)
	}
	return pod
}

// shown shows the environment of a container: literal values, and what barriers refer to.
func shown(c *corev1.Container) string {
	out := c.Name + ":"
	for _, e := range c.Env {
		switch {
		case e.ValueFrom == nil:
			out += fmt.Sprintf(" %s=%s", e.Name, e.Value)
		case e.ValueFrom.ConfigMapKeyRef == nil || e.Name != "KRUISE_CONTAINER_BARRIER" || e.ValueFrom.ConfigMapKeyRef.Optional != nil:
			out += fmt.Sprintf(" %s from %v", e.Name, e.ValueFrom)
		default:
			out += fmt.Sprintf(" barrier %s/%s", e.ValueFrom.ConfigMapKeyRef.Name, e.ValueFrom.ConfigMapKeyRef.Key)
		}
	}
	return out
}

// TestScripts shows what is made of pods. Containers with priorities stand behind "mutate", and what follows is merged into the pod:
// see patches.Merge. Shown are the names that it gets, and the environments of its containers. "of" shows the barriers of a container.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "of" {
				c := &corev1.Container{}
				patches.Merge(t, c, d.Input)
				priority, found := barrier.Priority(c)
				return fmt.Sprintf("%+v, priority %d, %t\n", barrier.Of(c), priority, found)
			}
			pod := podOf(t, d.CmdArgs, d.Input)
			before := pod.DeepCopy()
			if err := barrier.Mutate(pod, "xxxxx"); err != nil {
				if diff := cmp.Diff(before, pod); diff != "" {
					t.Errorf("%s: the pod was changed nevertheless:\n%s", d.Pos, diff)
				}
				return err.Error() + "\n"
			}
			var lines []string
			if pod.Name != "web" {
				lines = append(lines, fmt.Sprintf("name %q of %q", pod.Name, pod.GenerateName))
			}
			again := pod.DeepCopy()
			if err := barrier.Mutate(again, "yyyyy"); err != nil || !cmp.Equal(pod, again) {
				t.Errorf("%s: a second time changes more, error %v (-once +twice):\n%s", d.Pos, err, cmp.Diff(pod, again))
			}
			rest := pod.DeepCopy() // LP-5, LP-7: nothing but environments and the name changes
			rest.Name = before.Name
			for i := range rest.Spec.Containers {
				lines = append(lines, shown(&rest.Spec.Containers[i]))
				rest.Spec.Containers[i].Env = before.Spec.Containers[i].Env
			}
			if diff := cmp.Diff(before, rest); diff != "" {
				t.Errorf("%s: more was changed:\n%s", d.Pos, diff)
			}
			return strings.Join(append(lines, ""), "\n")
		})
	})
}

func waits(configMap, key string) corev1.EnvVar {
	return corev1.EnvVar{Name: "KRUISE_CONTAINER_BARRIER", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: configMap}, Key: key,
	}}}
}

// A key is read as it was written.
func FuzzOf(f *testing.F) {
	f.Add("p_5")
	f.Add("p_-0")
	f.Add("p_")
	f.Add("p_9223372036854775808")
	f.Fuzz(func(t *testing.T, key string) {
		priority, ok := barrier.Priority(&corev1.Container{Env: []corev1.EnvVar{waits("web-barrier", key)}})
		again, okAgain := barrier.Priority(&corev1.Container{Env: []corev1.EnvVar{waits("web-barrier", barrier.Key(priority))}})
		if ok && (!okAgain || again != priority) {
			t.Errorf("key %q has the priority %d, and its key %d", key, priority, again)
		}
	})
}

// Whatever stands in the environment, Mutate may refuse the pod, and then leaves it
// alone. Otherwise all containers get a barrier, or none does. The order of barriers is
// that of the numbers.
func FuzzMutate(f *testing.F) {
	f.Add("5", "", "", "p_1", "web-")
	f.Add("-3", "0", "Ordered", "p_x", "")
	f.Add("99999999999999999999", "+7", "x", "", "w")
	f.Fuzz(func(t *testing.T, first, second, annotation, key, prefix string) {
		pod := podOf(t, []datadriven.CmdArg{{Key: "a", Vals: []string{first}}, {Key: "b", Vals: []string{second}}}, "metadata: {name: null}")
		pod.GenerateName, pod.Annotations = prefix, map[string]string{"apps.kruise.io/container-launch-priority": annotation}
		pod.Spec.Containers[1].Env = append(pod.Spec.Containers[1].Env, waits("x", key))
		before := pod.DeepCopy()
		if err := barrier.Mutate(pod, "xxxxx"); err != nil || pod.Name == "" {
			if diff := cmp.Diff(before, pod); diff != "" {
				t.Fatalf("error %v, and a change:\n%s", err, diff)
			}
			return
		}
		want := barrier.ConfigMapName(pod.Name)
		for i := range pod.Spec.Containers {
			all := barrier.Of(&pod.Spec.Containers[i])
			if len(all) != 1 || all[0].ConfigMap != want || all[0].Key != barrier.Key(all[0].Priority) {
				t.Fatalf("container %d has the barriers %v of pod %s", i, all, pod.Name)
			}
		}
	})
}
