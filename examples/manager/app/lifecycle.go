// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-base/featuregate"

	"github.com/podwright/podwright/examples/process/features"
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
		compose: func(_ context.Context, p *parts) (made, error) {
			return of(launchpriority.Options{
				Kubernetes: p.kubernetes, Namespace: p.namespace, Pods: p.caches.pods(), Recorder: p.recorder, Metrics: reconciles,
			}, launchpriority.New, launchpriority.Rules), nil
		},
	}
}

func podReadiness() kind {
	return kind{
		controller: "pod-readiness-controller",
		resource:   podsResource,
		compose: func(_ context.Context, p *parts) (made, error) {
			o := podreadiness.Options{Kubernetes: p.kubernetes, Namespace: p.namespace, Pods: p.caches.pods(), Metrics: reconciles}
			return of(o, podreadiness.New, podreadiness.Rules), nil
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
		compose: func(_ context.Context, p *parts) (made, error) {
			o := options
			o.Kubernetes, o.Lifecycle, o.Namespace, o.Pods, o.Metrics = p.kubernetes, p.lifecycle, p.namespace, p.caches.pods(), reconciles
			return of(o, recreate.New, recreate.Rules), nil
		},
		webhook: func(k kubernetes.Interface, gates featuregate.FeatureGate) webhook {
			return &recreate.Webhook{Pods: podGetter(k), Disabled: !gates.Enabled(features.KruiseDaemon)}
		},
	}
}

// pods are given what several of the parts above need; see podConditions for which of them.
func pods() kind {
	return kind{webhook: func(_ kubernetes.Interface, gates featuregate.FeatureGate) webhook {
		if !gates.Enabled(features.PodWebhook) {
			return nil
		}
		pods := &podwebhook.Webhook{Readiness: podreadiness.Mutate, LaunchPriority: launchpriority.Mutate}
		if gates.Enabled(features.KruisePodReadinessGate) {
			pods.Readiness = podreadiness.MutateAll
		}
		return pods
	}}
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
