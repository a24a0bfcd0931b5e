// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
)

// runEtcd serves one member on unix sockets until SIGTERM, and writes the file named by -ready-file once it answers.
func runEtcd() error {
	dataDir := flag.String("data-dir", "", "directory of the member's data")
	client := flag.String("client-url", "", "URL to listen on for clients")
	peer := flag.String("peer-url", "", "URL to listen on for peers; there are none, but a member must have one")
	readyFile := flag.String("ready-file", "", "file to write when the member serves")
	flag.Parse()

	clientURL, err := url.Parse(*client)
	if err != nil {
		return err
	}
	peerURL, err := url.Parse(*peer)
	if err != nil {
		return err
	}
	config := embed.NewConfig()
	config.Dir = *dataDir
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{*clientURL}, []url.URL{*clientURL}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{*peerURL}, []url.URL{*peerURL}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.LogLevel = "warn"
	// What the operating system's page cache holds survives a killed process, and nothing here must survive the machine.
	config.UnsafeNoFsync = true

	member, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	defer member.Close()
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)
	ready := member.Server.ReadyNotify()
	for {
		select {
		case <-ready:
			ready = nil
			if err := os.WriteFile(*readyFile, nil, 0o600); err != nil {
				return err
			}
		case err := <-member.Err():
			return err
		case <-terminate:
			return nil
		}
	}
}
