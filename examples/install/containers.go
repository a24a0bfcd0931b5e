// SPDX-License-Identifier: Apache-2.0

package install

import (
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The names of the programs, which their accounts and roles have too.
const (
	managerName   = "podwright-manager"
	nodeAgentName = "podwright-nodeagent"
	nameLabel     = "app.kubernetes.io/name"
)

// pull is also for the tag latest, so that an image that was built and taken to the nodes is used.
const pull = corev1.PullIfNotPresent

// unprivileged is what both programs can do with.
func unprivileged() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

func runtimeDefault() *corev1.SeccompProfile {
	return &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}
}

// resources are without a limit of CPU time, which would hold the start up.
func resources(cpu, memory, limit string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)},
	}
}

// addProbes asks the paths that both programs answer on.
func addProbes(c *corev1.Container, host string, port intstr.IntOrString) {
	get := func(path string) corev1.ProbeHandler {
		return corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Host: host, Port: port, Path: path}}
	}
	c.LivenessProbe, c.ReadinessProbe = &corev1.Probe{ProbeHandler: get("/healthz"), FailureThreshold: 6}, &corev1.Probe{ProbeHandler: get("/readyz")}
}

func fromField(variable, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: variable, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

// split returns host and port of an address like "127.0.0.1:8080".
func split(address string) (string, int32, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}
	port, err := strconv.ParseInt(text, 10, 32)
	return host, int32(port), err
}
