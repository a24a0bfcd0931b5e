// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/testbed/rig"
	"github.com/podwright/podwright/examples/tests/testbed/serve"
	"github.com/podwright/podwright/lifecycle/podwebhook"
	"github.com/podwright/podwright/sidecar"
	"github.com/podwright/podwright/sidecar/client"
	"github.com/podwright/podwright/sidecar/policies"
	"github.com/podwright/podwright/sidecar/sidecarset"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

const namespace = "shop" // of the pods

// bench is what is measured on.
type bench struct {
	*rig.Rig
	config  *rest.Config
	sidecar client.Interface
}

func newBench(ctx context.Context, log io.Writer) (*bench, error) {
	r, err := rig.Start(ctx, log, sidecar.CRDs(), namespace, sidecarset.DefaultRevisionNamespace)
	if err != nil {
		return nil, err
	}
	b := &bench{Rig: r, config: r.Control.Config()}
	if err := b.prepare(ctx); err != nil {
		return nil, errors.Join(err, r.Control.Stop())
	}
	return b, nil
}

func (r *bench) prepare(ctx context.Context) (err error) {
	if r.sidecar, err = client.NewForConfig(r.config); err != nil {
		return err
	}
	// Its garbage collector looks for new kinds when it starts, and then every 30 seconds.
	if err := r.Control.Restart(ctx, cluster.ControllerManager); err != nil {
		return err
	}
	return rig.Until(ctx, "SidecarSets to be served and pods to be created", func(ctx context.Context) error {
		if _, err := r.sidecar.SidecarSets().List(ctx, metav1.ListOptions{}); err != nil {
			return err
		}
		_, err := r.Core.CoreV1().Pods(namespace).Create(ctx, pod(0), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
}

// running is what runs until stop is called.
type running struct {
	group  *errgroup.Group
	cancel context.CancelFunc
}

func (r *running) stop() error {
	r.cancel()
	return r.group.Wait()
}

// start runs the controllers that make revisions and, if that is the way, policies.
func (r *bench) start(ctx context.Context, w way) (*running, error) {
	sets, err := sidecarset.New(sidecarset.Options{Kubernetes: r.Core, Sidecar: r.sidecar})
	if err != nil {
		return nil, err
	}
	all := []func(context.Context) error{sets.Run}
	if w == byPolicies {
		made, err := policies.New(policies.Options{Kubernetes: r.Core, Sidecar: r.sidecar})
		if err != nil {
			return nil, err
		}
		all = append(all, made.Run)
	} else {
		caches, err := sidecarset.NewAdmissionCaches(sidecarset.AdmissionOptions{Kubernetes: r.Core, Sidecar: r.sidecar})
		if err != nil {
			return nil, err
		}
		all = append(all, caches.Run, func(ctx context.Context) error { return r.serve(ctx, caches) })
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &running{cancel: cancel}
	s.group, ctx = errgroup.WithContext(ctx)
	for _, run := range all {
		s.group.Go(func() error { return run(ctx) })
	}
	return s, nil
}

const webhookName = "injection"

// serve serves the webhook that injects, to the API server alone, until the context is done.
func (r *bench) serve(ctx context.Context, reader sidecarset.AdmissionReader) error {
	injector := &sidecarset.Injector{Reader: reader}
	webhook := &podwebhook.Webhook{Sidecars: injector.Mutate}
	return serve.Webhooks(ctx, r.Core, webhookName, webhook.Handlers(), []admissionregistrationv1.MutatingWebhook{{
		Name:         webhookName + ".podwright.io",
		ClientConfig: admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Path: new(podwebhook.MutatePath)}},
		Rules: []admissionregistrationv1.RuleWithOperations{{Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
			Rule: admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}}}},
		NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
		SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
		AdmissionReviewVersions: []string{"v1"},
	}}, nil)
}

// sidecarSet is one of those that inject. Those that do not match select other pods.
func sidecarSet(i int, matches bool) *v1alpha1.SidecarSet {
	app := "web"
	if !matches {
		app = fmt.Sprint("other-", i)
	}
	name := fmt.Sprintf("set-%03d", i)
	sidecarOf := func(policy v1alpha1.PodInjectPolicyType, suffix string) v1alpha1.SidecarContainer {
		return v1alpha1.SidecarContainer{PodInjectPolicy: policy,
			Container:   corev1.Container{Name: name + suffix, Image: "sidecar:1", Env: []corev1.EnvVar{{Name: "LEVEL", Value: "info"}}},
			TransferEnv: []v1alpha1.TransferEnvVar{{SourceContainerName: "main", EnvNames: []string{"ZONE"}}}}
	}
	return &v1alpha1.SidecarSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1alpha1.SidecarSetSpec{
			Selector:   &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
			Containers: []v1alpha1.SidecarContainer{sidecarOf(v1alpha1.BeforeAppContainerType, ""), sidecarOf(v1alpha1.AfterAppContainerType, "-after")},
		},
	}
}

// pod is one that is created. A gate keeps the scheduler away from it.
func pod(i int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("web-", i), Namespace: namespace, Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken: new(false), // for whose volume the API server adds mounts
			SchedulingGates:              []corev1.PodSchedulingGate{{Name: "podwright.io/measured"}},
			Containers:                   []corev1.Container{{Name: "main", Image: "web:1", Env: []corev1.EnvVar{{Name: "ZONE", Value: "a"}}}},
		},
	}
}
