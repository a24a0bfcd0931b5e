// SPDX-License-Identifier: Apache-2.0

package deletion_test

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/availability/deletion"
	"github.com/podwright/podwright/availability/v1alpha1"
)

// May they be deleted? A Deployment tells itself, of a Namespace the pods have to be counted.
func ExampleDecide() {
	cascading := metav1.ObjectMeta{Labels: map[string]string{v1alpha1.DeletionProtectionLabel: string(v1alpha1.CascadingDeletionProtection)}}

	web := &appsv1.Deployment{ObjectMeta: cascading, Spec: appsv1.DeploymentSpec{Replicas: new(int32(3))}}
	fmt.Println(deletion.Decide(appsv1.SchemeGroupVersion.WithKind("Deployment").GroupKind(), web, web.Spec.Replicas).Reason)

	shop := &corev1.Namespace{ObjectMeta: cascading}
	decision := deletion.Decide(corev1.SchemeGroupVersion.WithKind("Namespace").GroupKind(), shop, nil)
	fmt.Println("count:", decision.Count)
	fmt.Println(decision.Counted(2).Reason)
	// Output:
	// forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection=Cascading and replicas 3>0
	// count: active pods
	// forbidden by ResourcesProtectionDeletion for policy.kruise.io/delete-protection=Cascading and active pods 2>0
}

// What to apply, so that deletions are refused whatever runs.
func ExamplePolicies() {
	policies, bindings, err := deletion.Policies(deletion.PolicyOptions{LabelGroup: "platform-admins"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, policy := range policies {
		fmt.Println(policy.Name, bindings[i].Spec.ValidationActions)
		for _, rule := range policy.Spec.MatchConstraints.ResourceRules {
			fmt.Println("  ", rule.Operations, rule.APIGroups, rule.APIVersions, rule.Resources)
		}
	}
	// Output:
	// podwright-deletion-protection-workloads [Deny]
	//    [DELETE] [apps] [v1] [deployments replicasets statefulsets]
	//    [DELETE] [apps.kruise.io] [v1alpha1] [clonesets statefulsets uniteddeployments]
	//    [DELETE] [apps.kruise.io] [v1beta1] [statefulsets]
	// podwright-deletion-protection-others [Deny]
	//    [DELETE] [] [v1] [namespaces]
	//    [DELETE] [apiextensions.k8s.io] [v1] [customresourcedefinitions]
	//    [DELETE] [] [v1] [services]
	//    [DELETE] [networking.k8s.io] [v1] [ingresses]
	// podwright-deletion-protection-label [Deny]
	//    [UPDATE] [apps] [v1] [deployments replicasets statefulsets deployments/status replicasets/status statefulsets/status]
	//    [UPDATE] [apps.kruise.io] [v1alpha1] [clonesets statefulsets uniteddeployments clonesets/status statefulsets/status uniteddeployments/status]
	//    [UPDATE] [apps.kruise.io] [v1beta1] [statefulsets statefulsets/status]
	//    [UPDATE] [] [v1] [namespaces namespaces/status namespaces/finalize]
	//    [UPDATE] [apiextensions.k8s.io] [v1] [customresourcedefinitions customresourcedefinitions/status]
	//    [UPDATE] [] [v1] [services services/status]
	//    [UPDATE] [networking.k8s.io] [v1] [ingresses ingresses/status]
}
