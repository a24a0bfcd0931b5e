// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	manager "github.com/podwright/podwright/examples/manager/app"
)

// anyUser is a user who owns no file, of any number but 0.
const anyUser = 65532

// The names of the ports of a manager.
const (
	webhookPort = "webhook"
	metricsPort = "metrics"
	healthPort  = "health"
)

// Deployment returns the managers. They run as a user who owns no file, and write to none.
func (o Options) Deployment() (*appsv1.Deployment, error) {
	config, err := o.managerConfig()
	if err != nil {
		return nil, err
	}
	container := corev1.Container{
		Name: "manager", Image: o.ManagerImage, ImagePullPolicy: pull, Args: o.ManagerFlags,
		Env:             []corev1.EnvVar{fromField("POD_NAMESPACE", "metadata.namespace"), {Name: "GOMEMLIMIT", Value: "400MiB"}},
		Resources:       resources("100m", "128Mi", "512Mi"),
		SecurityContext: unprivileged(),
	}
	if err := addPorts(&container, config); err != nil {
		return nil, err
	}
	labels := map[string]string{nameLabel: managerName}
	pod := corev1.PodSpec{
		ServiceAccountName: managerName,
		EnableServiceLinks: new(false),
		PriorityClassName:  "system-cluster-critical",
		Containers:         []corev1.Container{container},
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: new(int64(anyUser)), RunAsGroup: new(int64(anyUser)), SeccompProfile: runtimeDefault(),
		},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: labels},
		}},
	}
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Name: managerName, Namespace: config.OwnNamespace},
		Spec: appsv1.DeploymentSpec{
			Replicas: &o.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
		},
	}, nil
}

// addPorts adds the ports that a manager listens on, and what asks it whether it works.
func addPorts(c *corev1.Container, config *manager.Config) error {
	if config.Webhook.Enabled {
		c.Ports = append(c.Ports, corev1.ContainerPort{Name: webhookPort, ContainerPort: int32(config.Webhook.Port)})
	}
	for _, server := range []struct{ name, address string }{{metricsPort, config.MetricsAddr}, {healthPort, config.HealthProbeAddr}} {
		if server.address == "" || server.address == "0" {
			continue
		}
		_, port, err := split(server.address)
		if err != nil {
			return fmt.Errorf("address of %s: %w", server.name, err)
		}
		c.Ports = append(c.Ports, corev1.ContainerPort{Name: server.name, ContainerPort: port})
		if server.name == healthPort {
			addProbes(c, "", intstr.FromString(healthPort))
		}
	}
	return nil
}

// service leads the API server to the webhooks of all managers that are ready.
func service(config *manager.Config) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Name: config.Webhook.Service, Namespace: config.OwnNamespace},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{nameLabel: managerName},
			Ports:    []corev1.ServicePort{{Name: webhookPort, Port: 443, TargetPort: intstr.FromString(webhookPort)}},
		},
	}
}
