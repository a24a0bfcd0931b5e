// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// Files in the cluster's directory.
const (
	tokenFile             = "tokens.csv"
	caFile                = "ca.crt"
	serviceAccountKeyFile = "service-accounts.key"
	auditPolicyFile       = "audit-policy.json"
	stagesFile            = "stages.json"
	// kubeletClientFile holds the certificate with which the API server shows itself to kubelets, and its key.
	kubeletClientFile = "kubelet-client.pem"
)

// readyFile is written by a component that does not serve HTTP, to say that it is ready.
func readyFile(component string) string { return component + ".ready" }

const adminUser = "admin"

func kubeconfigFile(user string) string { return user + ".kubeconfig" }

// users are the clients of the API server: their names, as an audit log shows them, and their groups. All have all rights;
// waiting for the roles of each to appear would only make the start slower.
var users = map[string]string{
	adminUser:         "podwright:admin",
	ControllerManager: "system:kube-controller-manager",
	Scheduler:         "system:kube-scheduler",
	Kwok:              "podwright:kwok",
	Kubelet:           "podwright:kubelet",
}

// writeCredentials writes a random token for every user and the key that signs service account tokens. A key that lies in
// the directory already is kept, so that tokens in a reused cluster stay valid.
func (c *Cluster) writeCredentials() error {
	c.tokens = map[string]string{}
	var tokens bytes.Buffer
	for user, name := range users {
		c.tokens[user] = rand.Text()
		fmt.Fprintf(&tokens, "%s,%s,%s,system:masters\n", c.tokens[user], name, name)
	}
	if err := os.WriteFile(filepath.Join(c.dir, tokenFile), tokens.Bytes(), 0o600); err != nil {
		return err
	}
	if err := c.writeKubeletClient(); err != nil {
		return err
	}
	_, _, err := keyutil.LoadOrGenerateKeyFile(filepath.Join(c.dir, serviceAccountKeyFile))
	return err
}

// writeKubeletClient writes a certificate for the API server as a client of kubelets. It is signed by itself: kubelets take it
// for their CA of clients too.
func (c *Cluster) writeKubeletClient() error {
	private, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return err
	}
	key, err := keyutil.ParsePrivateKeyPEM(private)
	if err != nil {
		return err
	}
	certificate, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "kube-apiserver", Organization: []string{"system:masters"}}, key.(crypto.Signer))
	if err != nil {
		return err
	}
	public, err := cert.EncodeCertificates(certificate)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.dir, kubeletClientFile), append(public, private...), 0o600)
}

// writeKubeconfigs writes one kubeconfig for every user, and the CA file. The API server must be ready: it makes the CA.
func (c *Cluster) writeKubeconfigs() (err error) {
	if c.ca, err = readCA(c.certificate(APIServer)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.dir, caFile), c.ca, 0o600); err != nil {
		return err
	}
	for user := range users {
		config := clientcmdapi.NewConfig()
		config.Clusters["podwright"] = &clientcmdapi.Cluster{Server: c.url(APIServer), CertificateAuthorityData: c.ca}
		config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: c.tokens[user]}
		config.Contexts["podwright"] = &clientcmdapi.Context{Cluster: "podwright", AuthInfo: user}
		config.CurrentContext = "podwright"
		if err := clientcmd.WriteToFile(*config, filepath.Join(c.dir, kubeconfigFile(user))); err != nil {
			return err
		}
	}
	return nil
}

// readCA returns the CA certificate out of a file that begins with the certificate it has signed.
func readCA(file string) ([]byte, error) {
	certificates, err := cert.CertsFromFile(file)
	if err != nil {
		return nil, err
	}
	for _, certificate := range certificates {
		if certificate.IsCA {
			return cert.EncodeCertificates(certificate)
		}
	}
	return nil, fmt.Errorf("no CA certificate in %s", file)
}

// auditPolicy logs every answered request of some users once, without bodies, and a watch also when it begins; no users are all.
func auditPolicy(users []string) ([]byte, error) {
	type rule struct {
		Level string   `json:"level"`
		Users []string `json:"users,omitempty"`
	}
	return json.Marshal(map[string]any{
		"apiVersion": "audit.k8s.io/v1",
		"kind":       "Policy",
		"omitStages": []string{"RequestReceived"},
		"rules":      []rule{{Level: "Metadata", Users: users}},
	})
}

// writeConfiguration writes the files that components take as configuration.
func (c *Cluster) writeConfiguration() error {
	policy, err := auditPolicy(c.options.AuditUsers)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.dir, auditPolicyFile), policy, 0o600); err != nil {
		return err
	}
	stages, err := stages(c.options.StartDelay)
	if err != nil {
		return fmt.Errorf("stages for KWOK: %w", err)
	}
	return os.WriteFile(filepath.Join(c.dir, stagesFile), stages, 0o600)
}
