// SPDX-License-Identifier: Apache-2.0

// Command generate writes the objects of package install into the folders of the kustomization and the chart.
//
//	go run ./install/generate
//
// brings those of this repository up to date. With flags for the programs, what they take comes along, for a folder of one's own:
//
//	cp -r install/kustomize install/chart /tmp/mine
//	go run ./install/generate -folder /tmp/mine -manager-flag --feature-gates=ResourceDistributionGate=true
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/podwright/podwright/examples/install"
)

func main() {
	options := install.NewOptions()
	folder := flag.String("folder", "install", "folder with the folders kustomize and chart")
	tag := flag.String("tag", install.Tag, "tag of both images in the kustomization; that of the chart is a value of it")
	flag.Func("manager-flag", "flag of the manager; can be given several times", func(value string) error {
		options.ManagerFlags = append(options.ManagerFlags, value)
		return nil
	})
	flag.Func("nodeagent-flag", "flag of the node agent, which wins over one before it; can be given several times", func(value string) error {
		options.NodeAgentFlags = append(options.NodeAgentFlags, value)
		return nil
	})
	flag.Parse()
	options.ManagerImage, options.NodeAgentImage = install.ManagerRepository+":"+*tag, install.NodeAgentRepository+":"+*tag
	if err := write(*folder, options); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(folder string, options install.Options) error {
	files, err := install.Files(options)
	if err != nil {
		return err
	}
	for path, text := range files {
		path = filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
