// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed/podhistory"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// mutation is what a policy of another team does to all pods, in CEL.
type mutation struct {
	name    string
	patch   string // a JSON patch; none if empty
	apply   string // an apply configuration; none if empty
	updates bool   // also of pods that exist
	images  string // what stands before each image then
}

// ofMirror takes the images of all containers of a pod, of which there are at most four, from a mirror.
const ofMirror = `[0, 1, 2, 3].filter(i, i < size(object.spec.containers) && !object.spec.containers[i].image.startsWith("mirror.test/"))
	.map(i, JSONPatch{op: "replace", path: "/spec/containers/" + string(i) + "/image", value: "mirror.test/" + object.spec.containers[i].image})`

var mutations = []mutation{
	{name: "a term of node affinity", patch: `has(object.spec.affinity) && has(object.spec.affinity.nodeAffinity) && has(object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution)
		? [JSONPatch{op: "add", path: "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchExpressions",
			value: [{"key": dyn("pool"), "operator": dyn("NotIn"), "values": dyn(["gpu"])}]}]
		: [JSONPatch{op: "add", path: "/spec/affinity", value: {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
			[{"matchExpressions": [{"key": dyn("pool"), "operator": dyn("NotIn"), "values": dyn(["gpu"])}]}]}}}}]`},
	{name: "a toleration", patch: `has(object.spec.tolerations)
		? [JSONPatch{op: "add", path: "/spec/tolerations/-", value: {"key": "pool", "operator": "Exists"}}]
		: [JSONPatch{op: "add", path: "/spec/tolerations", value: [{"key": "pool", "operator": "Exists"}]}]`},
	{name: "labels and annotations", updates: true,
		apply: `Object{metadata: Object.metadata{labels: {"team": "shop", "tier": "gold"}, annotations: {"tier": "gold"}}}`},
	{name: "a readiness gate", patch: `has(object.spec.readinessGates)
		? [JSONPatch{op: "add", path: "/spec/readinessGates/-", value: {"conditionType": "` + balanced + `"}}]
		: [JSONPatch{op: "add", path: "/spec/readinessGates", value: [{"conditionType": "` + balanced + `"}]}]`},
	{name: "containers and a volume", apply: `Object{spec: Object.spec{
		containers: [Object.spec.containers{name: "mesh", image: "mesh:1"}],
		initContainers: [Object.spec.initContainers{name: "mesh-init", image: "mesh:1"}],
		volumes: [Object.spec.volumes{name: "mesh", emptyDir: Object.spec.volumes.emptyDir{}}]}}`},
	{name: "images of a mirror", patch: ofMirror, updates: true, images: "mirror.test/"},
	{name: "requests", patch: `[JSONPatch{op: "add", path: "/spec/containers/0/resources", value: {"requests": {"cpu": "150m", "memory": "20Mi"}}}]`},
	{name: "a variable and a grace period", patch: `[JSONPatch{op: "add", path: "/spec/containers/0/env", value: [{"name": "ZONE", "value": "a"}]},
		JSONPatch{op: "replace", path: "/spec/terminationGracePeriodSeconds", value: 7}]`},
}

// balanced is the readiness gate of another controller, which opens it at once.
const balanced = "example.com/balanced"

// mostWrites is how many writes of the manager a pod takes at most in TestMutatedPods, with those of its workload. It takes some ten; a
// manager that does not recognize what it has written goes on writing.
const mostWrites = 25

// A policy changes every pod that is created, and some policies change pods that are updated. No pod is created twice. Updates in
// place are made once, in place, and end. A job runs once on each node. (IP-41)
func TestMutatedPods(t *testing.T) {
	t.Parallel()
	for _, m := range mutations {
		if err := createPolicy(t, &m); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			t.Run("CloneSet", func(t *testing.T) {
				t.Parallel()
				s := newCloneSetFixture(t)
				mutated(s.fixture, &m)
				s.run(cloneSet("web", 2, strategy(inPlace, 1), func(set *v1alpha1.CloneSet) { tier(&set.Spec.Template) }))
				updatedDespite(s.fixture, &m, image("web:2"))
			})
			t.Run("StatefulSet", func(t *testing.T) {
				t.Parallel()
				s := newStatefulSetFixture(t)
				mutated(s.fixture, &m)
				s.run(statefulSet(2, s.spec(orderedInPlace), func(set *v1beta1.StatefulSet) { tier(&set.Spec.Template) }))
				updatedDespite(s.fixture, &m, func(set *v1beta1.StatefulSet) { set.Spec.Template.Spec.Containers[0].Image = "web:2" })
			})
			t.Run("DaemonSet", func(t *testing.T) {
				t.Parallel()
				s := newDaemonSetFixture(t, "node-0", "node-1")
				mutated(s.fixture, &m)
				s.run(s.daemonSet("web", func(set *v1alpha1.DaemonSet) {
					tier(&set.Spec.Template)
					set.Spec.UpdateStrategy.RollingUpdate.Type = v1alpha1.InplaceRollingUpdateType
				}))
				updatedDespite(s.fixture, &m, setImageOfDaemonSet("web:2"))
			})
			t.Run("BroadcastJob", func(t *testing.T) {
				t.Parallel()
				s := newBroadcastJobFixture(t)
				s.labelNodes("node-0", "node-1")
				mutated(s.fixture, &m)
				s.create(s.job("web", func(spec *v1alpha1.BroadcastJobSpec) { spec.Template.Spec.Containers[0].Image = "task:1" }))
				s.awaitStatus("web", "completed desired=2 active=0 succeeded=2 failed=0")
				s.created(2)
				s.fewWrites()
			})
		})
	}
}

// tier has a template say what a policy says otherwise.
func tier(template *corev1.PodTemplateSpec) {
	template.Labels["tier"] = "silver"
	template.Annotations = map[string]string{"tier": "silver"}
}

// mutationLabel is the label of namespaces whose pods a policy changes, which it names.
const mutationLabel = "mutation.e2e.test"

// mutated has a policy change the pods of the namespace, and returns once the API server does so.
func mutated[T metav1.Object](s *fixture[T], m *mutation) {
	s.Helper()
	label := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, mutationLabel, m.policy())
	if _, err := s.Core.CoreV1().Namespaces().Patch(s.Context(), s.Namespace, types.MergePatchType, label, metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
	s.balance()
	s.AwaitAsking("the policy "+m.policy()+" changes pods", func() string {
		pod, err := s.Core.CoreV1().Pods(s.Namespace).Create(s.Context(), plainPod("asked"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return err.Error()
		}
		if pod.Annotations["mutated"] == "" {
			return fmt.Sprintf("annotations %v", pod.Annotations)
		}
		return ""
	})
}

// balance opens the readiness gate of pods that have it, until the test ends.
func (s *fixture[T]) balance() {
	pods := s.Core.CoreV1().Pods(s.Namespace)
	watch, err := pods.Watch(s.Context(), metav1.ListOptions{})
	if err != nil {
		s.Fatal(err)
	}
	go func() {
		for event := range watch.ResultChan() {
			pod, ok := event.Object.(*corev1.Pod)
			if !ok || podstate.Condition(pod, balanced).Status != "" || !slices.ContainsFunc(pod.Spec.ReadinessGates, func(g corev1.PodReadinessGate) bool { return g.ConditionType == balanced }) {
				continue
			}
			open := fmt.Appendf(nil, `{"status":{"conditions":[{"type":%q,"status":"True"}]}}`, balanced)
			_, _ = pods.Patch(s.Context(), pod.Name, types.StrategicMergePatchType, open, metav1.PatchOptions{}, "status") // or it is gone
		}
	}()
}

func (m *mutation) policy() string { return strings.ReplaceAll(m.name, " ", "-") }

// createPolicy creates the policy of a mutation, until the test ends. It says on each pod that it was there.
func createPolicy(t *testing.T, m *mutation) error {
	operations := []admissionregistrationv1.OperationType{admissionregistrationv1.Create}
	if m.updates {
		operations = append(operations, admissionregistrationv1.Update)
	}
	mutations := []admissionregistrationv1.Mutation{applied(`Object{metadata: Object.metadata{annotations: {"mutated": "yes"}}}`)}
	if m.apply != "" {
		mutations = append(mutations, applied(m.apply))
	}
	if m.patch != "" {
		mutations = append(mutations, admissionregistrationv1.Mutation{
			PatchType: admissionregistrationv1.PatchTypeJSONPatch, JSONPatch: &admissionregistrationv1.JSONPatch{Expression: m.patch}})
	}
	admission, name := steady.Core.AdmissionregistrationV1(), m.policy()
	t.Cleanup(func() {
		_ = admission.MutatingAdmissionPolicyBindings().Delete(context.Background(), name, metav1.DeleteOptions{})
		_ = admission.MutatingAdmissionPolicies().Delete(context.Background(), name, metav1.DeleteOptions{})
	})
	_, err := admission.MutatingAdmissionPolicies().Create(t.Context(), &admissionregistrationv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
			Mutations:          mutations,
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{mutationLabel: name}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: operations, Rule: admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	_, err = admission.MutatingAdmissionPolicyBindings().Create(t.Context(), &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: name},
	}, metav1.CreateOptions{})
	return err
}

func applied(expression string) admissionregistrationv1.Mutation {
	return admissionregistrationv1.Mutation{PatchType: admissionregistrationv1.PatchTypeApplyConfiguration,
		ApplyConfiguration: &admissionregistrationv1.ApplyConfiguration{Expression: expression}}
}

// updatedDespite updates the image of main, and fails unless that is done in place, once.
func updatedDespite[T metav1.Object](s *fixture[T], m *mutation, edit func(T)) {
	s.Helper()
	before := s.owned("web")
	s.edit("web", edit)
	s.awaitSettled("web")
	s.unmoved(before, "web")
	s.restarted("web", "main", m.images+"web:2", 1)
	s.restarted("web", "side", m.images+"proxy:1", 0)
	s.deletedOnly()
	s.created(2)
	for _, pod := range s.owned("web") {
		if pod.Annotations["mutated"] == "" {
			s.Errorf("the policy has not changed %s", podstate.Describe(pod, false))
		}
	}
	s.fewWrites()
}

// fewWrites fails if the manager has written more often than the pods need.
func (s *fixture[T]) fewWrites() {
	s.Helper()
	sum, writes, pods := 0, s.Writes(), len(podhistory.Tracks(s.history.Changes(), 0))
	for _, n := range writes {
		sum += n
	}
	if sum > mostWrites*pods {
		s.Errorf("expected at most %d writes for each of %d pods, observed %d: %v", mostWrites, pods, sum, writes)
	}
}
