// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// RevisionAnnotation is, on a policy, the revision that it injects.
const RevisionAnnotation = "sidecarset.podwright.io/revision"

const (
	// Limits of the API server, of the code points of an expression, and of the bytes of an
	// object. It has a reserve for what the server adds to it.
	maxExpression = 100_000
	maxPolicy     = 1 << 20
	// What costs half of what an API server lets a policy cost, for a pod of five containers
	// with 30 variables and 30 mounts each. Then all that it lets one expression cost, for
	// containers with 200 variables.
	maxContainers = 64
	maxTransfers  = 200
)

// Input is what a policy is compiled from. It is not changed.
type Input struct {
	// SidecarSet is what is to be injected. If its injectionStrategy names a revision,
	// injection.Restore has to have given it what that holds. Required.
	SidecarSet *v1alpha1.SidecarSet
	// Revision is the name of the revision, which is written into pods. Empty: it is left
	// out there.
	Revision string
	// Created is when the revision was created: the time of the injection that is written
	// into pods, since a policy knows no other. Required.
	Created time.Time
	// FailurePolicy is what becomes of a pod of which a policy can make nothing. Empty: Fail,
	// the pod is refused, as a webhook would refuse it. Ignore: it is created without the
	// sidecars.
	FailurePolicy admissionregistrationv1.FailurePolicyType
	// LeaveLarge leaves pods alone that may cost more than an API server lets a policy cost. A webhook
	// beside has to inject into them. Default false: they are refused, as FailurePolicy says. (SCP-11)
	LeaveLarge bool
	// Features switches what differs between releases. Containers are never sorted by their names. (SCI-43)
	Features injection.Features
}

// Current is the Input of the policy that a SidecarSet is to have now. It is that of the revision
// that its injectionStrategy names, or else of latest, that of its spec. Created is zero if there
// is no such revision yet. The error says why it is not known what to inject. Nothing is changed.
func Current(set *v1alpha1.SidecarSet, latest string, revisions []*appsv1.ControllerRevision) (in Input, err error) {
	in = Input{SidecarSet: set, Revision: latest}
	if injection.NamesRevision(set) {
		in.SidecarSet = set.DeepCopy()
		if in.Revision, err = injection.Restore(in.SidecarSet, revisions); err != nil {
			return Input{}, fmt.Errorf("spec.injectionStrategy.revision: %w", err)
		}
	}
	for _, r := range revisions {
		if r != nil && r.Name == in.Revision {
			in.Created = r.CreationTimestamp.Time
		}
	}
	return in, nil
}

// Compiled is a SidecarSet as a policy.
type Compiled struct {
	// Policy injects into the pods that the SidecarSet matches, and Binding puts it into
	// force. Both nil: nothing is to be injected.
	Policy  *admissionregistrationv1.MutatingAdmissionPolicy
	Binding *admissionregistrationv1.MutatingAdmissionPolicyBinding
	// Skipped is why nothing is to be injected; empty if something is.
	Skipped string
}

// Name is the name of the policy and of the binding of a SidecarSet.
func Name(set string) string {
	const most = 253 // bytes that a name may have
	name := "sidecarset-" + set
	if len(name) <= most {
		return name
	}
	sum := sha256.Sum256([]byte(set))
	return name[:most-13] + "-" + hex.EncodeToString(sum[:6])
}

// Compile makes the policy that injects what a SidecarSet has for a pod. The error says
// what no policy can do; then a webhook has to. (SCP-1 to SCP-9)
func Compile(in Input) (*Compiled, error) {
	switch {
	case in.SidecarSet == nil:
		return nil, errors.New("Input.SidecarSet is nil; give it the SidecarSet to compile")
	case in.Created.IsZero():
		return nil, errors.New("Input.Created is zero, and would be written into pods; set it to the creation time of the revision")
	}
	if skipped := Skipped(in.SidecarSet); skipped != "" {
		return &Compiled{Skipped: skipped}, nil
	}
	if injection.Partial(in.SidecarSet) {
		return nil, fmt.Errorf("SidecarSet %s: spec.injectionStrategy.revision.policy is Partial, and no policy can choose pods by lot; have a webhook inject", in.SidecarSet.Name)
	}
	set := in.SidecarSet.DeepCopy()
	in.Features.Default(set)
	c := &compiler{Input: in, set: set}
	if err := c.compile(); err != nil {
		return nil, fmt.Errorf("SidecarSet %s: %w", set.Name, err)
	}
	policy := &admissionregistrationv1.MutatingAdmissionPolicy{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "MutatingAdmissionPolicy"},
		ObjectMeta: metav1.ObjectMeta{
			Name: Name(set.Name), OwnerReferences: owner(set), Annotations: map[string]string{RevisionAnnotation: in.Revision},
		},
		Spec: admissionregistrationv1.MutatingAdmissionPolicySpec{
			MatchConstraints: constraints(set),
			MatchConditions: []admissionregistrationv1.MatchCondition{{Name: "alive",
				Expression: `!(object.?status.?phase.orValue("") in ["Succeeded", "Failed"]) && !has(object.metadata.deletionTimestamp)`},
				{Name: "not-static", Expression: fmt.Sprintf(`object.?metadata.?annotations[?%q].orValue("") == ""`, corev1.MirrorPodAnnotationKey)}},
			Variables: c.variables,
			Mutations: []admissionregistrationv1.Mutation{{
				PatchType: admissionregistrationv1.PatchTypeJSONPatch, JSONPatch: &admissionregistrationv1.JSONPatch{Expression: c.mutation()},
			}},
			FailurePolicy:      new(cmp.Or(in.FailurePolicy, admissionregistrationv1.Fail)),
			ReinvocationPolicy: admissionregistrationv1.NeverReinvocationPolicy,
		},
	}
	if in.LeaveLarge {
		policy.Spec.MatchConditions = append(policy.Spec.MatchConditions, c.small()...)
	}
	if err := fits(policy); err != nil {
		return nil, fmt.Errorf("SidecarSet %s: %w", set.Name, err)
	}
	binding := &admissionregistrationv1.MutatingAdmissionPolicyBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "MutatingAdmissionPolicyBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name, OwnerReferences: owner(set)},
		Spec:       admissionregistrationv1.MutatingAdmissionPolicyBindingSpec{PolicyName: policy.Name},
	}
	return &Compiled{Policy: policy, Binding: binding}, nil
}

func owner(set *v1alpha1.SidecarSet) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(set, v1alpha1.SchemeGroupVersion.WithKind("SidecarSet"))}
}

// Skipped is why a SidecarSet injects nothing and is to have no policy. Its injection is paused, or
// a selector is empty or cannot be read and so selects nothing. It is empty if there is to be one.
// (SCP-2)
func Skipped(set *v1alpha1.SidecarSet) string {
	if set.Spec.InjectionStrategy.Paused {
		return "spec.injectionStrategy.paused is true"
	}
	if skipped := nothing("spec.selector", set.Spec.Selector); skipped != "" || set.Spec.NamespaceSelector == nil {
		return skipped
	}
	return nothing("spec.namespaceSelector", set.Spec.NamespaceSelector)
}

// constraints are which pods a SidecarSet matches, with the defaults of the API server.
// (SCP-2)
func constraints(set *v1alpha1.SidecarSet) *admissionregistrationv1.MatchResources {
	namespaces := &metav1.LabelSelector{}
	if selector := set.Spec.NamespaceSelector; selector != nil {
		namespaces = selector.DeepCopy()
	}
	if set.Spec.Namespace != "" {
		namespaces.MatchExpressions = append(namespaces.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpIn, Values: []string{set.Spec.Namespace}})
	}
	namespaces.MatchExpressions = append(namespaces.MatchExpressions, metav1.LabelSelectorRequirement{
		Key: v1alpha1.SidecarSetNoInjectionLabel, Operator: metav1.LabelSelectorOpDoesNotExist})
	pods := manifests.Resource("", "pods", "v1")
	pods.Scope = new(admissionregistrationv1.AllScopes)
	return &admissionregistrationv1.MatchResources{
		NamespaceSelector: namespaces,
		ObjectSelector:    set.Spec.Selector.DeepCopy(),
		MatchPolicy:       new(admissionregistrationv1.Equivalent),
		ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
			Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create}, Rule: pods}}},
	}
}

// nothing says why a selector selects nothing; empty if it does.
func nothing(field string, selector *metav1.LabelSelector) string {
	read, err := metav1.LabelSelectorAsSelector(selector)
	switch {
	case err != nil:
		return fmt.Sprintf("%s cannot be read: %v", field, err)
	case selector == nil || read.Empty():
		return field + " is empty"
	}
	return ""
}

// fits says what of a policy is larger than an API server allows. (SCP-8)
func fits(policy *admissionregistrationv1.MutatingAdmissionPolicy) error {
	for _, v := range policy.Spec.Variables {
		if n := utf8.RuneCountInString(v.Expression); n > maxExpression {
			return fmt.Errorf("the expression %s has %d characters, more than the %d that a policy may have in one", v.Name, n, maxExpression)
		}
	}
	if size := policy.Size(); size > maxPolicy {
		return fmt.Errorf("the policy has %d bytes, more than the %d that can be stored", size, maxPolicy)
	}
	return nil
}
