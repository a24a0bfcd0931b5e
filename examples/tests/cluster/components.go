// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// The names of the components of the control plane, as Kill, Restart, Pause, Resume and Done take them.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
	Kwok              = "kwok"
)

const (
	// startTimeout bounds the start of one component, on a machine that is busy with other things.
	startTimeout = 10 * time.Minute
	// stopGrace is how long a component may take to end by itself.
	stopGrace = 2 * time.Second
	// pollInterval is how often the start looks whether something is ready.
	pollInterval = 50 * time.Millisecond

	etcdClientURL = "unix://localhost:2379"
	etcdPeerURL   = "unix://localhost:2380"
)

// arguments returns the command line of a component. Relative paths lie in the cluster's directory, in which all components
// run. They are short because the names of unix sockets may not be long: etcd makes these of the URL's host.
func (c *Cluster) arguments(name string) ([]string, error) {
	switch name {
	case Etcd:
		return []string{
			"-data-dir=etcd", "-client-url=" + etcdClientURL, "-peer-url=" + etcdPeerURL, "-ready-file=" + readyFile(name),
		}, nil
	case APIServer:
		return c.apiServerArguments(), nil
	case ControllerManager:
		return append(c.serving(name),
			"--kubeconfig="+kubeconfigFile(name),
			"--leader-elect=false",
			"--service-account-private-key-file="+serviceAccountKeyFile,
			"--root-ca-file="+caFile,
			"--enable-hostpath-provisioner=true",
			"--concurrent-gc-syncs=20",
			"--kube-api-qps=2000", "--kube-api-burst=4000",
			// A test may hold KWOK up for long; nodes are not lost by it.
			"--node-monitor-grace-period=24h",
		), nil
	case Scheduler:
		return append(c.serving(name),
			"--kubeconfig="+kubeconfigFile(name),
			"--leader-elect=false",
			"--kube-api-qps=2000", "--kube-api-burst=4000",
		), nil
	case Kwok:
		return []string{
			"-kubeconfig=" + kubeconfigFile(name), "-stages=" + stagesFile, "-ready-file=" + readyFile(name),
			// KWOK does not remember across restarts which addresses are taken.
			fmt.Sprintf("-cidr=10.%d.0.0/16", 64+c.kwokRuns%64),
		}, nil
	}
	return nil, fmt.Errorf("the control plane has no %q", name)
}

// component returns the process of a component.
func (c *Cluster) component(name string) (*process, error) {
	if name == Kwok {
		c.kwokRuns++
	}
	arguments, err := c.arguments(name)
	if err != nil {
		return nil, err
	}
	p := &process{
		name:      name,
		binary:    c.binary,
		arguments: append([]string{name}, arguments...),
		dir:       c.dir,
		logFile:   filepath.Join(c.dir, name+".log"),
	}
	_ = os.Remove(filepath.Join(c.dir, readyFile(name)))
	// If this program dies, the child that writes most of the temporary directory removes it.
	if name == Etcd && c.options.Dir == "" {
		p.environment = []string{"PODWRIGHT_REMOVE_DIR=" + c.dir}
		p.outlives = true
	}
	return p, nil
}

func (c *Cluster) apiServerArguments() []string {
	arguments := append(c.serving(APIServer),
		"--advertise-address=127.0.0.1",
		// A loopback address may not stand in the Endpoints of the service "kubernetes", and no pod here would use it.
		"--endpoint-reconciler-type=none",
		"--etcd-servers="+etcdClientURL,
		"--token-auth-file="+tokenFile,
		"--authorization-mode=RBAC",
		"--allow-privileged=true",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+serviceAccountKeyFile,
		"--service-account-signing-key-file="+serviceAccountKeyFile,
		"--service-cluster-ip-range=10.0.0.0/16",
		// How the API server reaches kubelets, for logs and exec.
		"--kubelet-preferred-address-types=InternalIP",
		"--kubelet-client-certificate="+kubeletClientFile,
		"--kubelet-client-key="+kubeletClientFile,
	)
	if c.options.Audit {
		arguments = append(arguments,
			"--audit-policy-file="+auditPolicyFile,
			"--audit-log-path="+c.AuditLog(),
			"--audit-log-maxsize=100000",
		)
	}
	return append(arguments, c.options.APIServerArgs...)
}

// serving returns the flags with which the components of Kubernetes serve: on loopback, with a certificate they make.
func (c *Cluster) serving(name string) []string {
	return []string{
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.ports[name]),
		"--cert-dir=" + name + ".certs",
	}
}

// certificate returns the file of the certificate that a component made for itself, followed by that of its CA.
func (c *Cluster) certificate(name string) string {
	file := name
	if name == APIServer {
		file = "apiserver"
	}
	return filepath.Join(c.dir, name+".certs", file+".crt")
}

func (c *Cluster) url(name string) string { return fmt.Sprintf("https://127.0.0.1:%d", c.ports[name]) }

// serves looks once whether a component serves.
func (c *Cluster) serves(ctx context.Context, name string) error {
	switch name {
	case Etcd, Kwok:
		_, err := os.Stat(filepath.Join(c.dir, readyFile(name)))
		return err
	case ControllerManager:
		return c.get(ctx, name, "/healthz")
	}
	return c.get(ctx, name, "/readyz")
}

// get asks a component for a path and wants 200.
func (c *Cluster) get(ctx context.Context, name, path string) error {
	pem, err := os.ReadFile(c.certificate(name))
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url(name)+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.tokens[adminUser])
	return wantOK(&http.Client{Transport: transport}, request)
}

func wantOK(client *http.Client, request *http.Request) error {
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s answers %s", request.URL, response.Status)
	}
	return nil
}
