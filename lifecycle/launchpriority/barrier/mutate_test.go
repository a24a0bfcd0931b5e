// SPDX-License-Identifier: Apache-2.0

package barrier_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/lifecycle/launchpriority/barrier"
)

// podOf returns the pod web of containers with priorities: "main=0 log=5 side"
// in which side has none.
func podOf(containers string, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	for container := range strings.FieldsSeq(containers) {
		name, value, has := strings.Cut(container, "=")
		c := corev1.Container{Name: name, Env: []corev1.EnvVar{{Name: "A", Value: "b"}}}
		if has {
			c.Env = append(c.Env, corev1.EnvVar{Name: "KRUISE_CONTAINER_PRIORITY", Value: value})
		}
		pod.Spec.Containers = append(pod.Spec.Containers, c)
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func annotated(value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{"apps.kruise.io/container-launch-priority": value}
	}
}

func generated(prefix string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Name, pod.GenerateName = "", prefix }
}

// env gives a container one more environment variable.
func env(i int, e corev1.EnvVar) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.Containers[i].Env = append(pod.Spec.Containers[i].Env, e) }
}

func literal(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }

// waits is the barrier in the environment, as ConfigMap/key.
func waits(at string) corev1.EnvVar {
	configMap, key, _ := strings.Cut(at, "/")
	return corev1.EnvVar{Name: "KRUISE_CONTAINER_BARRIER", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: configMap}, Key: key,
	}}}
}

// barriers shows what the last environment variables refer to, "-" if a
// container has no barrier there.
func barriers(pod *corev1.Pod) string {
	var all []string
	for _, c := range pod.Spec.Containers {
		at := "-"
		if last := c.Env[len(c.Env)-1]; last.Name == "KRUISE_CONTAINER_BARRIER" {
			at = last.ValueFrom.ConfigMapKeyRef.Name + "/" + last.ValueFrom.ConfigMapKeyRef.Key
			if last.ValueFrom.ConfigMapKeyRef.Optional != nil {
				at += "?"
			}
		}
		all = append(all, at)
	}
	return strings.Join(all, " ")
}

func TestMutate(t *testing.T) {
	priority := func(value string) corev1.EnvVar { return literal("KRUISE_CONTAINER_PRIORITY", value) }
	for _, test := range []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{"LP-2: one container", podOf("main=5"), "-"},
		{"LP-2: one container, ordered", podOf("main", annotated("Ordered")), "-"},
		{"LP-2: one container with a priority that is none", podOf("main=abc"), "-"},
		{"LP-E2: a sidecar has been added", podOf("main=5 sidecar"), "web-barrier/p_5 web-barrier/p_0"},
		{"LP-1: a sidecar brings its own priority", podOf("main sidecar=100"), "web-barrier/p_0 web-barrier/p_100"},
		{"LP-3: ordered", podOf("a b c", annotated("Ordered")), "web-barrier/p_0 web-barrier/p_-1 web-barrier/p_-2"},
		{"LP-E8: the annotation wins", podOf("a=5 b=abc c=", annotated("Ordered")), "web-barrier/p_0 web-barrier/p_-1 web-barrier/p_-2"},
		{"LP-3: another value is ignored", podOf("a b", annotated("ordered")), "- -"},
		{"LP-3: another value does not hide priorities", podOf("a b=1", annotated("true")), "web-barrier/p_0 web-barrier/p_1"},
		{"LP-4: no priorities", podOf("a b"), "- -"},
		{"LP-4: all are 0", podOf("a=0 b"), "- -"},
		{"LP-4: the last one of a container wins", podOf("a=5 b", env(0, priority("7"))), "web-barrier/p_7 web-barrier/p_0"},
		{"LP-E1: 5,5,5", podOf("a=5 b=5 c=5"), "- - -"},
		{"LP-E1: 0,0,1", podOf("a=0 b c=1"), "web-barrier/p_0 web-barrier/p_0 web-barrier/p_1"},
		{"LP-E7: negative priorities", podOf("a=-3 b"), "web-barrier/p_-3 web-barrier/p_0"},
		{"LP-E10: the two of a hot-upgrade pair", podOf("main side-1=9 side-2=9"), "web-barrier/p_0 web-barrier/p_9 web-barrier/p_9"},
		{"the example", podOf("main proxy=100 log=100 agent=-5"), "web-barrier/p_0 web-barrier/p_100 web-barrier/p_100 web-barrier/p_-5"},
		{"LP-E12: barriers written by hand stay where no order is asked for", podOf("a b", env(0, waits("mine/p_3"))), "mine/p_3 -"},
		{"a barrier of another pod is replaced", podOf("a=1 b", env(0, waits("old-barrier/p_1")), env(1, waits("old-barrier/p_0"))), "web-barrier/p_1 web-barrier/p_0"},
		{"a sign", podOf("a=+5 b"), "web-barrier/p_5 web-barrier/p_0"},
		{"no name at all is for the API server to refuse", podOf("a=5 b", generated("")), "- -"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if err := barrier.Mutate(test.pod, "xxxxx"); err != nil {
				t.Fatal(err)
			}
			if got := barriers(test.pod); got != test.want {
				t.Errorf("barriers %s, want %s", got, test.want)
			}
			again := test.pod.DeepCopy()
			if err := barrier.Mutate(again, "yyyyy"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.pod, again); diff != "" {
				t.Errorf("a second time changes more (-once +twice):\n%s", diff)
			}
		})
	}
}

// The whole pod: nothing but the environment changes, at its end.
func TestMutateLeavesTheRest(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	given := podOf("a=1 b", func(pod *corev1.Pod) {
		pod.Spec.InitContainers = []corev1.Container{
			{Name: "setup", Env: []corev1.EnvVar{literal("KRUISE_CONTAINER_PRIORITY", "abc")}},
			{Name: "native", RestartPolicy: &always, Env: []corev1.EnvVar{literal("KRUISE_CONTAINER_PRIORITY", "7")}},
		}
		pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug"}}}
	})
	want := given.DeepCopy()
	want.Spec.Containers[0].Env = append(want.Spec.Containers[0].Env, waits("web-barrier/p_1"))
	want.Spec.Containers[1].Env = append(want.Spec.Containers[1].Env, waits("web-barrier/p_0"))
	if err := barrier.Mutate(given, ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, given); diff != "" {
		t.Errorf("LP-5, LP-7: the pod (-want +got):\n%s", diff)
	}
}

// A webhook adds a container to a pod that its workload has made with barriers.
func TestMutateAfterContainersWereAdded(t *testing.T) {
	pod := podOf("main log", annotated("Ordered"))
	if err := barrier.Mutate(pod, ""); err != nil {
		t.Fatal(err)
	}
	pod.Spec.Containers = append(podOf("sidecar").Spec.Containers, pod.Spec.Containers...)
	if err := barrier.Mutate(pod, ""); err != nil {
		t.Fatal(err)
	}
	if got, want := barriers(pod), "web-barrier/p_0 web-barrier/p_-1 web-barrier/p_-2"; got != want {
		t.Errorf("LP-3: barriers %s, want %s by the final order", got, want)
	}
	for _, c := range pod.Spec.Containers {
		if n := len(barrier.Of(&c)); n != 1 {
			t.Errorf("container %s has %d barriers", c.Name, n)
		}
	}
}

func TestMutateNames(t *testing.T) {
	long := strings.Repeat("n", 58)
	for _, test := range []struct {
		name       string
		containers string
		prefix     string
		want       string
	}{
		{"LP-6: the name is made", "a=1 b", "web-", "web-xxxxx"},
		{"LP-6: of 58 characters", "a=1 b", long, long + "xxxxx"},
		{"LP-6: of no more", "a=1 b", long + "-", long + "xxxxx"},
		{"LP-6: not where nothing is injected", "a b", "web-", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			pod := podOf(test.containers, generated(test.prefix))
			if err := barrier.Mutate(pod, "xxxxx"); err != nil {
				t.Fatal(err)
			}
			if pod.Name != test.want || pod.GenerateName != test.prefix {
				t.Errorf("name %q, generateName %q", pod.Name, pod.GenerateName)
			}
			if test.want != "" && barriers(pod) != test.want+"-barrier/p_1 "+test.want+"-barrier/p_0" {
				t.Errorf("barriers %s", barriers(pod))
			}
		})
	}
}

func TestMutateRefuses(t *testing.T) {
	fromField := corev1.EnvVar{Name: "KRUISE_CONTAINER_PRIORITY", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}
	const at, rule = "spec.containers[a].env[KRUISE_CONTAINER_PRIORITY].", "the launch priority must be a decimal integer, such as 100, 0 or -5"
	for _, test := range []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{"LP-E3: no integer", podOf("a=abc b"), at + `value: Invalid value: "abc": ` + rule},
		{"LP-4: empty", podOf("a= b"), at + `value: Invalid value: "": ` + rule},
		{"a fraction", podOf("a=1.5 b"), at + `value: Invalid value: "1.5": ` + rule},
		{"blanks", podOf("a b", env(0, literal("KRUISE_CONTAINER_PRIORITY", " 1"))), at + `value: Invalid value: " 1": ` + rule},
		{"hexadecimal", podOf("a=0x10 b"), at + `value: Invalid value: "0x10": ` + rule},
		{"more than 64 bits", podOf("a=9223372036854775808 b"), at + `value: Invalid value: "9223372036854775808": ` + rule},
		{"a reference", podOf("a b", env(0, fromField)), at + "valueFrom: Forbidden: the launch priority must be written as a literal value, such as 100, 0 or -5"},
		{"also one that does not count", podOf("a=abc b", env(0, literal("KRUISE_CONTAINER_PRIORITY", "5"))), at + `value: Invalid value: "abc": ` + rule},
		{"all of them", podOf("a=abc b=x"), `[` + at + `value: Invalid value: "abc": ` + rule + `, ` + strings.Replace(at, "[a]", "[b]", 1) + `value: Invalid value: "x": ` + rule + `]`},
		{"a name that no ConfigMap can have", podOf("a=1 b", func(pod *corev1.Pod) { pod.Name = strings.Repeat("n", 246) }), "metadata.name: Too long: may not be more than 245 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := test.pod.DeepCopy()
			err := barrier.Mutate(test.pod, "")
			if err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
			if diff := cmp.Diff(before, test.pod); diff != "" {
				t.Errorf("the pod was changed nevertheless:\n%s", diff)
			}
		})
	}
}

// Whatever stands in the environment, Mutate may refuse the pod, and then leaves it
// alone. Otherwise all containers get a barrier, or none does. The order of barriers is
// that of the numbers.
func FuzzMutate(f *testing.F) {
	f.Add("5", "", "", "p_1", "web-")
	f.Add("-3", "0", "Ordered", "p_x", "")
	f.Add("99999999999999999999", "+7", "x", "", "w")
	f.Fuzz(func(t *testing.T, first, second, annotation, key, prefix string) {
		pod := podOf("a b", annotated(annotation), generated(prefix),
			env(0, literal("KRUISE_CONTAINER_PRIORITY", first)), env(1, literal("KRUISE_CONTAINER_PRIORITY", second)), env(1, waits("x/"+key)))
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
