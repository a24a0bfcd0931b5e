// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"net/http"

	"github.com/spf13/pflag"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/featuregate"

	"github.com/podwright/podwright/examples/manager/features"
	"github.com/podwright/podwright/examples/manager/permissions"
	"github.com/podwright/podwright/examples/manager/registration"
	"github.com/podwright/podwright/lifecycle/launchpriority"
	"github.com/podwright/podwright/lifecycle/podreadiness"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

func lifecycleKinds() []kind {
	return []kind{launchPriorities(), podReadiness(), containerRecreateRequests(), pods()}
}

var (
	podsResource             = corev1.SchemeGroupVersion.WithResource("pods")
	recreateRequestsResource = v1alpha1.SchemeGroupVersion.WithResource("containerrecreaterequests")
)

// launchPriorities also start the containers of pods that were made before the gate PodWebhook was turned off, or by hand.
func launchPriorities() kind {
	return kind{
		controller: "container-launch-priority-controller",
		resource:   podsResource,
		new: func(_ context.Context, p *parts) (runner, error) {
			return launchpriority.New(launchpriority.Options{
				Kubernetes: p.kubernetes, Namespace: p.namespace, Pods: p.caches.pods(), Recorder: p.recorder, Metrics: reconciles,
			})
		},
		rules: func(featuregate.FeatureGate) (cluster, namespaced []rbacv1.PolicyRule) {
			return nil, []rbacv1.PolicyRule{
				permissions.Rule("list watch", "", "pods"),
				permissions.Rule("get create patch", "", "configmaps"),
				permissions.Rule("create patch", "", "events"),
			}
		},
	}
}

func podReadiness() kind {
	return kind{
		controller: "pod-readiness-controller",
		resource:   podsResource,
		new: func(_ context.Context, p *parts) (runner, error) {
			return podreadiness.New(podreadiness.Options{Kubernetes: p.kubernetes, Namespace: p.namespace, Pods: p.caches.pods(), Metrics: reconciles})
		},
		rules: func(featuregate.FeatureGate) (cluster, namespaced []rbacv1.PolicyRule) {
			return nil, []rbacv1.PolicyRule{permissions.Rule("list watch", "", "pods"), permissions.Rule("patch", "", "pods/status")}
		},
	}
}

func containerRecreateRequests() kind {
	var options recreate.Options
	return kind{
		flags: func(f *pflag.FlagSet) {
			f.IntVar(&options.Workers, "crr-workers", 3, "ContainerRecreateRequests reconciled at the same time")
		},
		controller: "containerrecreaterequest-controller",
		gate:       features.KruiseDaemon,
		resource:   recreateRequestsResource,
		new: func(_ context.Context, p *parts) (runner, error) {
			o := options
			o.Kubernetes, o.Lifecycle, o.Namespace, o.Pods, o.Metrics = p.kubernetes, p.lifecycle, p.namespace, p.caches.pods(), reconciles
			return recreate.New(o)
		},
		rules: func(featuregate.FeatureGate) (cluster, namespaced []rbacv1.PolicyRule) {
			return nil, []rbacv1.PolicyRule{
				permissions.Rule("list watch patch delete", kruise, "containerrecreaterequests"),
				permissions.Rule("patch", kruise, "containerrecreaterequests/status"),
				permissions.Rule("get list watch", "", "pods"),
				permissions.Rule("patch", "", "pods/status"),
			}
		},
		handlers: func(k kubernetes.Interface, gates featuregate.FeatureGate) map[string]http.Handler {
			return (&recreate.Webhook{Pods: podGetter(k), Disabled: !gates.Enabled(features.KruiseDaemon)}).Handlers()
		},
		mutating: on("mcontainerrecreaterequest.kb.io", recreate.MutatePath, createUpdate, "containerrecreaterequests", "v1alpha1"),
	}
}

// pods are given what several of the parts above need; see podConditions for which of them.
func pods() kind {
	rule := admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}}
	webhook := registration.Webhook("mpod.kb.io", podwebhook.MutatePath, rule, admissionv1.Create)
	webhook.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "control-plane", Operator: metav1.LabelSelectorOpDoesNotExist},
	}}
	return kind{
		handlers: func(_ kubernetes.Interface, gates featuregate.FeatureGate) map[string]http.Handler {
			if !gates.Enabled(features.PodWebhook) {
				return nil
			}
			pods := &podwebhook.Webhook{Readiness: podreadiness.Mutate, LaunchPriority: launchpriority.Mutate}
			if gates.Enabled(features.KruisePodReadinessGate) {
				pods.Readiness = podreadiness.MutateAll
			}
			return pods.Handlers()
		},
		mutating: []admissionv1.MutatingWebhook{webhook},
	}
}

// podConditions keep pods away from the webhook that it leaves as they are. Where all pods are changed, those in the
// manager's own namespace are asked for only if they would be changed anyway: the manager must be able to start.
func podConditions(gates featuregate.FeatureGate, ownNamespace string) map[string]string {
	condition := "(" + launchpriority.MatchExpression + ") || (" + podreadiness.MatchExpression + ")"
	if gates.Enabled(features.KruisePodReadinessGate) {
		condition += " || request.namespace != '" + ownNamespace + "' && (" + podreadiness.MatchExpressionAll + ")"
	}
	return map[string]string{podwebhook.MutatePath: condition}
}
