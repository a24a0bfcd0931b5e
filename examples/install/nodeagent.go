// SPDX-License-Identifier: Apache-2.0

package install

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	nodeagent "github.com/podwright/podwright/examples/nodeagent/app"
)

// DaemonSet returns an agent on every node, which the policies hold to its own. Ordinary users must not create pods in its
// namespace, nor use its account.
func (o Options) DaemonSet() (*appsv1.DaemonSet, error) {
	config, err := o.nodeAgentConfig()
	if err != nil {
		return nil, err
	}
	pod, err := o.agentPod(config)
	if err != nil {
		return nil, err
	}
	labels := map[string]string{nameLabel: nodeAgentName}
	return &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Name: nodeAgentName, Namespace: nodeagent.Namespace},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromString("10%"))}, // every agent that starts lists the pods of its node
			},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: *pod},
		},
	}, nil
}

func (o Options) agentPod(config *nodeagent.Config) (*corev1.PodSpec, error) {
	if config.Endpoint == "" {
		return nil, errors.New("flags of the node agent: want --cri-endpoint, whose folder is mounted")
	}
	host, port, err := split(config.HealthAddr)
	if err != nil {
		return nil, fmt.Errorf("flags of the node agent: --health-addr: %w", err)
	}
	agent := corev1.Container{
		Name: "agent", Image: o.NodeAgentImage, ImagePullPolicy: pull, Args: o.NodeAgentFlags,
		Env:             []corev1.EnvVar{fromField(nodeNameVariable, "spec.nodeName"), {Name: "GOMEMLIMIT", Value: "100MiB"}},
		Resources:       resources("10m", "64Mi", "128Mi"),
		SecurityContext: unprivileged(),
	}
	addProbes(&agent, host, intstr.FromInt32(port))
	pod := &corev1.PodSpec{
		ServiceAccountName:           nodeAgentName,
		AutomountServiceAccountToken: new(false), // the volume token is it
		EnableServiceLinks:           new(false),
		// preStop hooks over HTTP come from the node, as the kubelet's do, and images are pulled before there is a pod network.
		HostNetwork:                   true,
		DNSPolicy:                     corev1.DNSDefault,
		PriorityClassName:             "system-node-critical",
		Tolerations:                   []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		TerminationGracePeriodSeconds: new(int64(10)), // it keeps nothing, and can be killed at any time
		// The socket is root's. With SELinux it takes SELinuxOptions{Type: "spc_t"} beside it, as everything that uses that socket.
		SecurityContext: &corev1.PodSecurityContext{RunAsUser: new(int64(0)), RunAsGroup: new(int64(0)), SeccompProfile: runtimeDefault()},
	}
	for _, v := range volumes(config) {
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: v.name, VolumeSource: v.source})
		agent.VolumeMounts = append(agent.VolumeMounts, corev1.VolumeMount{Name: v.name, MountPath: v.path, ReadOnly: true}) // one can still connect to a socket in it
	}
	pod.Containers = []corev1.Container{agent}
	return pod, nil
}

// tokens is the folder in which client-go looks for the token of the pod.
const tokens = "/var/run/secrets/kubernetes.io/serviceaccount"

// runtimeVolume is the name of the volume with the socket of the container runtime.
const runtimeVolume = "runtime"

// volume is what an agent has at a path.
type volume struct {
	name, path string
	source     corev1.VolumeSource
}

func volumes(config *nodeagent.Config) []volume {
	// The folder: the socket is another one after a restart of the runtime.
	runtime := filepath.Dir(strings.TrimPrefix(config.Endpoint, "unix://"))
	// The folder in which a kubelet of 1.37 serves its pods; those before it leave it empty.
	pods := filepath.Dir(config.KubeletSocket)
	all := []volume{
		{runtimeVolume, runtime, hostPath(runtime, corev1.HostPathDirectory)},
		{"pods", pods, hostPath(pods, corev1.HostPathDirectoryOrCreate)},
		{"token", tokens, corev1.VolumeSource{Projected: boundToken()}},
	}
	if config.CredentialProviderConfig != "" {
		folder := filepath.Dir(config.CredentialProviderConfig)
		all = append(all, volume{"credential-config", folder, hostPath(folder, corev1.HostPathDirectory)})
		if plugins := filepath.Clean(config.CredentialProviderBinDir); plugins != folder {
			all = append(all, volume{"credential-plugins", plugins, hostPath(plugins, corev1.HostPathDirectory)})
		}
	}
	return all
}

// boundToken is what the kubelet mounts by itself too, written down, since the policies rest on it. It is a token for this
// pod alone, which names the node. It ends with the pod, and is replaced before its hour is over.
func boundToken() *corev1.ProjectedVolumeSource {
	return &corev1.ProjectedVolumeSource{DefaultMode: new(int32(0o400)), Sources: []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: new(int64(3600))}},
		{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
		}},
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
			{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}},
		}}},
	}}
}

func hostPath(path string, kind corev1.HostPathType) corev1.VolumeSource {
	return corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}}
}
