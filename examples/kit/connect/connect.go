// SPDX-License-Identifier: Apache-2.0

// Package connect says how a process reaches its API server.
package connect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Config returns how to reach the API server, and from which file. It takes
// what the embedding program gives, unless that is nil; else the file, unless its
// name is empty. Then come the environment variable KUBECONFIG and the service
// account of the pod. The file and the variable may be lists of files, which are
// merged.
func Config(given *rest.Config, kubeconfig string) (config *rest.Config, source string, err error) {
	if given != nil {
		return given, "the embedding program", nil
	}
	file, source := kubeconfig, "--kubeconfig="+kubeconfig
	if file == "" {
		file = os.Getenv(clientcmd.RecommendedConfigPathEnvVar)
		source = "environment variable KUBECONFIG=" + file
	}
	if file != "" {
		rules := &clientcmd.ClientConfigLoadingRules{Precedence: filepath.SplitList(file), WarnIfAllMissing: true}
		if len(rules.Precedence) == 1 {
			rules = &clientcmd.ClientConfigLoadingRules{ExplicitPath: file} // which must exist
		}
		config, err = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
		if err != nil {
			return nil, "", fmt.Errorf("reading the connection to the API server from %s: %w", source, err)
		}
		return config, source, nil
	}
	config, err = rest.InClusterConfig()
	if errors.Is(err, rest.ErrNotInCluster) {
		return nil, "", errors.New("no connection to an API server: want --kubeconfig=<file>, the environment variable KUBECONFIG, or a pod with a service account")
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading the service account of the pod: %w", err)
	}
	return config, "the service account of the pod", nil
}

// Kubernetes returns a client for the core kinds, which travel as protobuf.
func Kubernetes(config *rest.Config) (kubernetes.Interface, error) {
	config = rest.CopyConfig(config)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	return kubernetes.NewForConfig(config)
}
